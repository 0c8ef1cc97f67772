"""What the charts of a comparison share: rows, colours, emphasis, tooltips and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]

_WIDTH, _HEIGHT = 520, 240
_FOCUS = "focus < 0 || datum.series == focus"


class ChartFrame:
    """Builds parts of charts about tokenizers; `alt` is the module of Altair."""

    def __init__(self, alt: Any, names: Sequence[str], *, is_on_page: bool) -> None:
        self.alt = alt
        self._names = names
        self._is_on_page = is_on_page

    def lines(self, rows: Sequence[Row], x: Any, y: Any, tips: Iterable[Any]) -> Any:
        """Return a chart with a line and points for each tokenizer."""
        alt = self.alt
        chart = (
            alt.Chart(self.data(rows))
            .mark_line(point=alt.OverlayMarkDef(size=45), strokeWidth=2)
            .encode(
                x=x,
                y=y,
                color=self.color(),
                opacity=self.opacity(),
                tooltip=[*self.name_tips(), *tips],
            )
        )
        return self.finished(chart, _HEIGHT)

    def data(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        """Return rows with the fields `tokenizer` and `series`, its index."""
        index = {name: at for at, name in enumerate(self._names)}
        values = []
        for at, row in enumerate(rows):
            name = row.get("name", self._names[at % len(self._names)])
            fields = {field: value for field, value in row.items() if field != "name"}
            values.append({"tokenizer": name, "series": index[name], **fields})
        return self.alt.Data(values=values)

    def color(self, legend: bool = True) -> Any:
        """Return the colour of a tokenizer; the page has one legend for all charts."""
        alt = self.alt
        shown = None
        if legend and not self._is_on_page:
            shown = alt.Legend(title=None, orient="top", labelLimit=200)
        scale = alt.Scale(domain=self._names)
        return alt.Color("tokenizer:N", sort=None, scale=scale, legend=shown)

    def opacity(self) -> Any:
        """Return the opacity that the parameter `focus` decides."""
        return self.alt.condition(_FOCUS, self.alt.value(1), self.alt.value(0.12))

    def name_tips(self) -> list[Any]:
        """Return the first line of each tooltip."""
        return [self.alt.Tooltip("tokenizer:N", title="tokenizer")]

    def finished(self, chart: Any, height: int) -> Any:
        """Return a chart with its parameter and its size."""
        focus = self.alt.param(name="focus", value=-1)
        chart = chart.add_params(focus)
        if not self._is_on_page:
            return chart.properties(width=_WIDTH, height=height)
        fit = self.alt.AutoSizeParams(type="fit-x", contains="padding")
        return chart.properties(width="container", height=height, autosize=fit)

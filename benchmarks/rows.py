"""The tables of a report: which there are, and how their rows come of the figures.

Ratios say how many times better ours is than the best peer whose answer is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cases import OURS, read_definitions
from figures import Case, Record

BASELINE = "tokenizers"
Row = list[str]


def encoding_rows(found: Sequence[Case]) -> list[Row]:
    """Encode, lists, calls and truncation, on one thread: megabytes a second."""
    return [
        [
            _class(case),
            _corpus(case),
            case.level(ours),
            _number(case.speed(BASELINE, "steady")),
            _best(case.best(lambda peer, case=case: case.speed(peer, "steady"))),
            _best(case.best(lambda peer, case=case: case.speed(peer, "cold"))),
            _best(case.best(lambda peer, case=case: case.speed(peer, "seen"))),
            *(_number(case.speed(ours, phase)) for phase in ("steady", "cold", "seen")),
            *(_ratio(case, ours, phase) for phase in ("steady", "cold", "seen")),
            _goals(case, "steady", "cold"),
        ]
        for case in _of_tasks(found, "encode", "lists", "call", "truncate")
        if case.about["definition"] != "threads"
        for ours in case.ours
    ]


def thread_rows(found: Sequence[Case]) -> list[Row]:
    """One batch on one thread and on two: megabytes a second, and how many times one thread's."""
    chosen = [case for case in found if case.about["definition"] == "threads"]
    inputs = dict.fromkeys(case.about.get("input") for case in chosen)
    return [
        row
        for one in inputs
        for row in _thread_rows([case for case in chosen if case.about.get("input") == one])
    ]


def _thread_rows(same_input: Sequence[Case]) -> list[Row]:
    by_threads = {case.about["threads"]: case for case in same_input}
    if set(by_threads) != {1, 2}:
        return []
    one, two = by_threads[1], by_threads[2]
    return [
        [
            engine + _input(one),
            _number(one.speed(engine, "steady")),
            _number(two.speed(engine, "steady")),
            _quotient(two.speed(engine, "steady"), one.speed(engine, "steady")),
            _ratio(two, engine, "steady") if engine in two.ours else "",
            _goals(two, "two_threads", "speed_up") if engine in two.ours else "",
        ]
        for engine in two.engines
    ]


def decoding_rows(found: Sequence[Case]) -> list[Row]:
    """Decode to `str`: megabytes of text a second."""
    return [
        [
            _class(case),
            _corpus(case),
            case.level(ours),
            _number(case.speed(BASELINE, "decode")),
            _best(case.best(lambda peer, case=case: case.speed(peer, "decode"))),
            _number(case.speed(ours, "decode")),
            _ratio(case, ours, "decode"),
            _goals(case, "decode"),
        ]
        for case in _of_tasks(found, "encode")
        if case.about["definition"] != "threads"
        for ours in case.ours
        if case.seconds(ours, "decode")
    ]


def span_rows(found: Sequence[Case]) -> list[Row]:
    """Offsets and word ids in hand: megabytes a second, and the share of ids alone."""
    return [
        [
            case.about["vocabulary"],
            _corpus(case),
            engine,
            _number(case.speed(engine, "ids")),
            _number(case.speed(engine, "spans")),
            _quotient(case.speed(engine, "spans"), case.speed(engine, "ids")),
            _goals(case, "share") if engine in case.ours else "",
        ]
        for case in _of_tasks(found, "spans")
        for engine in case.engines
    ]


def training_rows(found: Sequence[Case]) -> list[Row]:
    """Seconds to count the corpus, to learn and in all, and the most memory of the process in megabytes."""
    return [
        [
            str(case.about["score"]),
            engine,
            *(_number(case.median(engine, phase)) for phase in ("count", "learn", "total")),
            _quotient(case.median(engine, "total"), case.median(OURS, "total")),
            _number(case.peak_mb(engine)),
        ]
        for case in _of_tasks(found, "train")
        for engine in case.engines
        if case.of(engine)
    ]


def time_rows(task: str, phase: str, unit: float) -> Callable[[Sequence[Case]], list[Row]]:
    """Return what makes the rows of a task that is told in seconds, in the unit given."""

    def rows(found: Sequence[Case]) -> list[Row]:
        return [
            _time_row(case, ours, phase, unit)
            for case in _of_tasks(found, task)
            for ours in case.ours
        ]

    return rows


def hostile_rows(found: Sequence[Case]) -> list[Row]:
    """Nanoseconds a byte, and how many times those of ordinary text, for the slowest text."""
    return [
        [case.about["vocabulary"], engine, *_hostile_cells(case, engine)]
        for case in _of_tasks(found, "hostile")
        for engine in case.engines
        if case.of(engine)
    ]


TABLES: tuple[tuple[str, str, Callable[[Sequence[Case]], list[Row]]], ...] = (
    (
        "Encoding, one thread, MB/s",
        "| class | corpus | level | tokenizers steady | best peer steady | best peer cold "
        "| best peer seen | ours steady | ours cold | ours seen | ratio steady | ratio cold "
        "| ratio seen | goal |",
        encoding_rows,
    ),
    (
        "One 56 MB batch, gpt2, MB/s",
        "| engine | one thread | two threads | times one | ratio | goal |",
        thread_rows,
    ),
    (
        "Offsets and word ids, MB/s",
        "| vocabulary | corpus | engine | ids | offsets and word ids | share | goal |",
        span_rows,
    ),
    (
        "Decoding, one thread, MB/s of text",
        "| class | corpus | level | tokenizers | best peer | ours | ratio | goal |",
        decoding_rows,
    ),
    (
        "One short text, warm, microseconds",
        "| vocabulary | level | tokenizers | best peer | ours | ratio | goal |",
        time_rows("short", "warm", 1e6),
    ),
    (
        "Import and load, milliseconds",
        "| vocabulary | level | tokenizers | best peer | ours | ratio | goal |",
        time_rows("start", "inside", 1e3),
    ),
    (
        "Import and load, whole process, milliseconds",
        "| vocabulary | level | tokenizers | best peer | ours | ratio | goal |",
        time_rows("start", "process", 1e3),
    ),
    (
        "Import and load from a cache of built tables, milliseconds",
        "| vocabulary | level | tokenizers | best peer | ours | ratio | goal |",
        time_rows("start", "cached", 1e3),
    ),
    (
        "Hostile texts, nanoseconds a byte",
        "| vocabulary | engine | ordinary text | slowest text | times ordinary | goal |",
        hostile_rows,
    ),
    (
        "Learning a vocabulary, all cores, seconds",
        "| score | engine | counting | learning | in all | times ours | memory, MB |",
        training_rows,
    ),
)


# ---- cells


def _of_tasks(found: Sequence[Case], *tasks: str) -> list[Case]:
    return [case for case in found if case.about["task"] in tasks]


def _class(case: Case) -> str:
    definition = _definition(case)
    name = str(definition.get("class", case.about["definition"]))
    has_several = len(definition.get("vocabularies", ())) > 1
    return f"{name}, {case.about['vocabulary']}" if has_several else name


def _corpus(case: Case) -> str:
    small = " (small text)" if case.about.get("is_small_text") else ""
    return f"{case.about['corpus']}{_input(case)}{small}"


def _input(case: Case) -> str:
    """Return what to add to a name if the texts are not given as a list of `str`."""
    return f", {case.about['input']}" if "input" in case.about else ""


def _definition(case: Case) -> Record:
    return read_definitions().get(case.about["definition"], {})


def _goals(case: Case, *names: str) -> str:
    goals = {} if "input" in case.about else _definition(case).get("goals", {})
    own = goals.get(case.about.get("corpus")) or goals.get(case.about.get("vocabulary")) or {}
    return " / ".join(f"{own[name]:g}" for name in names if name in own)


def _time_row(case: Case, ours: str, phase: str, unit: float) -> Row:
    best = case.best(lambda peer: _negative(case.median(peer, phase)))
    seconds = case.median(ours, phase)
    return [
        case.about["vocabulary"],
        case.level(ours),
        _scaled(case.median(BASELINE, phase), unit),
        f"{best[1]} {_scaled(-best[0], unit)}" if best else "-",
        _scaled(seconds, unit),
        _quotient(-best[0] if best else None, seconds),
        _goals(case, phase),
    ]


def _hostile_cells(case: Case, engine: str) -> Row:
    usual, *hostile = case.phases
    a_byte = {
        name: seconds / case.of(engine)[0]["phases"][name]["bytes"]
        for name in (usual, *hostile)
        if (seconds := case.median(engine, name)) is not None
    }
    slowest = max((name for name in hostile if name in a_byte), key=a_byte.__getitem__, default="")
    return [
        _scaled(a_byte.get(usual), 1e9),
        f"{slowest} {_scaled(a_byte.get(slowest), 1e9)}",
        _quotient(a_byte.get(slowest), a_byte.get(usual)),
        _goals(case, "slowest") if engine in case.ours else "",
    ]


def _ratio(case: Case, ours: str, phase: str) -> str:
    best = case.best(lambda peer: case.speed(peer, phase))
    return _quotient(case.speed(ours, phase), best[0] if best else None)


def _best(best: tuple[float, str] | None) -> str:
    return f"{best[1]} {_number(best[0])}" if best else "-"


def _quotient(above: float | None, below: float | None) -> str:
    return f"{above / below:.2f}" if above and below else "-"


def _scaled(seconds: float | None, unit: float) -> str:
    return "-" if seconds is None else _number(seconds * unit)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def _negative(value: float | None) -> float | None:
    return None if value is None else -value

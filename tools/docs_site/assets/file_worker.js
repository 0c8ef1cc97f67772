// Pages that are opened as files have no workers: a hidden frame stands in for one, with the same messages, copies
// that arrive later, as those of workers do.

if (location.protocol === "file:") {
  globalThis.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "Search";
      this.frame.srcdoc = `<script>
        globalThis.importScripts = (...sources) =>
          sources.reduce((done, source) => done.then(() => new Promise((resolve, reject) => {
            const script = Object.assign(document.createElement("script"), { src: source, onload: resolve, onerror: reject });
            document.body.append(script);
          })), Promise.resolve());
        globalThis.postMessage = (data) => frameElement.dispatchEvent(new CustomEvent("answer", { detail: data }));
      <${"/"}script><script src="${new URL(address, location.href)}"><${"/"}script>`;
      this.frame.addEventListener("load", () => this.start());
      this.frame.addEventListener("answer", ({ detail }) => this.answer(detail));
      document.documentElement.append(this.frame);
    }

    start() {
      this.isStarted = true;
      for (const data of this.waiting) this.postMessage(data);
    }

    postMessage(message) {
      const data = structuredClone(message);
      if (!this.isStarted) this.waiting.push(data);
      else setTimeout(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    answer(message) {
      const data = structuredClone(message);
      setTimeout(() => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}

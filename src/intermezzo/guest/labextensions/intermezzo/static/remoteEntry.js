// Tells in the notebook what Intermezzo has to say about its workspace: that it will be paused, was paused, goes on.
//
// It is a prebuilt extension that needs no build: a container as module federation knows them, with one plugin that
// speaks to JupyterLab by its commands alone. It asks the control plane, from whose site the page came, in the name of
// whoever looks at it; where there is none (a tool opened the server directly) it is silent. What it asks by itself are
// GETs, which count as nobody's activity, and a tab that nobody sees asks nothing.
"use strict";

(() => {
  const API = "/api/intermezzo/v1";
  const HELD_S = 25;
  const SHORTEST_MS = 1000;
  const AFTER_A_FAILURE_MS = 15000;
  const KEEP_AWAKE = "intermezzo:keep-awake";
  const DISMISS = "intermezzo:dismiss";
  const OPEN = "intermezzo:open-page";

  const WORDS = {
    en: {
      ready: "Intermezzo tells here when this workspace is paused and resumed.",
      paused: "Paused. The live session is saved; this tab goes on where it is once the workspace is resumed.",
      restored: "Resumed: the same process goes on.",
      fresh: "Started fresh: what was only in memory is gone.",
      keptAwake: "Kept awake until {when}.",
      open: "Open its page",
      dismiss: "Dismiss",
    },
    ja: {
      ready: "このワークスペースの一時停止と再開は、ここでお知らせします。",
      paused: "一時停止しました。実行中のセッションは保存されています。再開すると、このタブはそのまま続きます。",
      restored: "再開しました。同じプロセスが続いています。",
      fresh: "新規起動しました。メモリーにのみあったものは失われました。",
      keptAwake: "{when}まで起動したままにします。",
      open: "ページを開く",
      dismiss: "閉じる",
    },
    pl: {
      ready: "Tutaj Intermezzo powie o wstrzymaniu i wznowieniu tego obszaru roboczego.",
      paused: "Wstrzymany. Działająca sesja jest zapisana; po wznowieniu ta karta będzie działać dalej.",
      restored: "Wznowiony: działa dalej ten sam proces.",
      fresh: "Czysty start: to, co było tylko w pamięci, przepadło.",
      keptAwake: "Nie będzie wstrzymany do {when}.",
      open: "Otwórz jego stronę",
      dismiss: "Zamknij",
    },
  };

  function cookie(name) {
    const entry = document.cookie.split("; ").find((part) => part.startsWith(`${name}=`));
    return entry ? entry.slice(name.length + 1) : "";
  }

  function words() {
    const wanted = [cookie("intermezzo_language"), ...navigator.languages.map((tag) => tag.split("-")[0])];
    return WORDS[wanted.find((language) => language in WORDS)] ?? WORDS.en;
  }

  // The workspace that the page belongs to, as the gateway's path names it; null where there is no gateway.
  function workspace() {
    const data = document.getElementById("jupyter-config-data");
    const base = data ? (JSON.parse(data.textContent).baseUrl ?? "") : "";
    const parts = /^\/workspace\/connect\/([^/]+)\/([^/]+)\/[^/]+\//.exec(base);
    if (!parts) {
      return null;
    }
    const [, namespace, name] = parts;
    return {
      api: `${API}/workspaces/${namespace}/${name}`,
      page: `/w/${namespace}/${name}`,
      concerns: (notice) =>
        !notice.name ||
        (notice.namespace === decodeURIComponent(namespace) && notice.name === decodeURIComponent(name)),
    };
  }

  async function ask(path) {
    const answer = await fetch(path, { headers: { Accept: "application/json" }, credentials: "same-origin" });
    if (!answer.ok) {
      throw new Error(`${answer.status}`);
    }
    return answer;
  }

  async function change(path, body) {
    const headers = { "Content-Type": "application/json", "X-XSRF-Token": cookie("intermezzo_xsrf") };
    const request = { method: "POST", headers, credentials: "same-origin", body: JSON.stringify(body) };
    const answer = await fetch(path, request);
    const content = answer.status === 204 ? {} : await answer.json();
    if (!answer.ok) {
      throw new Error([content.detail, content.hint].filter(Boolean).join(". "));
    }
    return content;
  }

  const after = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  function seen() {
    return new Promise((resolve) => {
      const look = () => {
        if (!document.hidden) {
          document.removeEventListener("visibilitychange", look);
          resolve();
        }
      };
      document.addEventListener("visibilitychange", look);
      look();
    });
  }

  class Teller {
    constructor(app, own) {
      this.app = app;
      this.own = own;
      this.told = new Map(); // by id of the notice: the id of JupyterLab's notification
      this.state = null; // JupyterLab's notification about the workspace's state
      this.phase = null;
      this.change = null;
    }

    notify(message, type, actions = [], autoClose = false) {
      const options = { autoClose, actions };
      return this.app.commands.execute("apputils:notify", { message, type, options });
    }

    close(id) {
      return this.app.commands.execute("apputils:dismiss-notification", { id });
    }

    // JupyterLab fetches what shows notifications only when the first one comes, and by then its server may be paused.
    async prepare() {
      await this.close(await this.notify(words().ready, "info", [], 1));
    }

    async run() {
      await this.prepare();
      for (;;) {
        await seen();
        try {
          await this.look();
          await after(SHORTEST_MS);
        } catch {
          this.change = null;
          await after(AFTER_A_FAILURE_MS);
        }
      }
    }

    async look() {
      const held = this.change === null ? "" : `?after=${this.change}&wait_s=${HELD_S}`;
      const answer = await ask(this.own.api + held);
      this.change = answer.headers.get("Intermezzo-Change");
      await this.tellState(await answer.json());
      const notices = await (await ask(`${API}/notices`)).json();
      await this.tellNotices(notices.filter(this.own.concerns));
    }

    async tellState({ phase, continuity }) {
      const before = this.phase;
      this.phase = phase;
      if (phase === before || !["Paused", "Running"].includes(phase)) {
        return;
      }
      const wasPaused = this.state !== null;
      if (wasPaused) {
        await this.close(this.state);
        this.state = null;
      }
      if (phase === "Paused") {
        this.state = await this.notify(words().paused, "info", [{ label: words().open, commandId: OPEN }]);
      } else if (before !== null) {
        const restored = continuity?.verdict === "restored";
        await this.notify(restored ? words().restored : words().fresh, restored ? "success" : "warning", [], 10000);
      }
    }

    async tellNotices(notices) {
      const current = new Set(notices.map((notice) => notice.id));
      for (const [id, notification] of this.told) {
        if (!current.has(id)) {
          this.told.delete(id);
          await this.close(notification);
        }
      }
      for (const notice of notices.filter(({ id }) => !this.told.has(id))) {
        const message = [notice.headline, notice.message].filter(Boolean).join("\n");
        this.told.set(notice.id, await this.notify(message, "warning", this.actions(notice)));
      }
    }

    actions(notice) {
      const open = { label: words().open, commandId: OPEN };
      if (notice.keep_awake_s) {
        const args = { seconds: notice.keep_awake_s };
        return [{ label: notice.keep_awake, commandId: KEEP_AWAKE, args, displayType: "accent" }, open];
      }
      const dismiss = { label: words().dismiss, commandId: DISMISS, args: { id: notice.id } };
      return notice.name ? [dismiss, open] : [dismiss];
    }

    async answered(asking) {
      try {
        await asking();
      } catch (error) {
        await this.notify(error.message, "error");
      }
    }

    async keepAwake(seconds) {
      const lease = await change(`${this.own.api}/keep-awake`, { seconds, source: "page" });
      const when = new Date(lease.until).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
      await this.notify(words().keptAwake.replace("{when}", when), "success", [], 10000);
    }

    install() {
      const add = (id, asking) => this.app.commands.addCommand(id, { execute: (args) => this.answered(() => asking(args)) });
      add(KEEP_AWAKE, ({ seconds }) => this.keepAwake(seconds));
      add(DISMISS, ({ id }) => change(`${API}/notices/${encodeURIComponent(id)}/dismiss`, {}));
      add(OPEN, async () => window.open(this.own.page, "_blank", "noopener"));
    }
  }

  const plugin = {
    id: "intermezzo:notices",
    description: "Tells what Intermezzo has to say about this workspace.",
    autoStart: true,
    activate(app) {
      const own = workspace();
      if (own) {
        const teller = new Teller(app, own);
        teller.install();
        app.restored.then(() => teller.run());
      }
    },
  };

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB.intermezzo = {
    init() {},
    async get() {
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();

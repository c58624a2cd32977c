/** The page in which rollouts are labelled for a judge: one at a time, one key each, then what the labels say. */
import "../run/run.css";
import "./judge.css";
import {
  judgeVersion,
  type FromJudge,
  type JudgeState,
  type ToJudge,
} from "../../shared/editor/judgePanel.ts";
import type { JudgeReport } from "../../shared/rollouts/judgeReport.ts";
import { element, setShown, setText } from "../shared/dom.ts";
import { connect, type Host } from "../shared/messaging.ts";
import { Labelling, type Act } from "./labelling.ts";
import { reportView } from "./report.ts";

class JudgePanel {
  #labelling: Labelling | undefined;
  #report: JudgeReport | undefined;
  /** Whose rollouts they are, and where the labels are. */
  #source = "";
  readonly #title = element("h1", {}, "Label Rollouts");
  readonly #where = element("p", { class: "where" });
  readonly #status = element("p", { class: "waiting", role: "status" }, "Drawing rollouts…");
  readonly #failure = element("p", { class: "notice", role: "alert" });
  readonly #body = element("main", {});
  readonly #host: Host<FromJudge, JudgeState>;

  constructor(root: HTMLElement) {
    this.#host = connect<ToJudge, FromJudge, JudgeState>(judgeVersion, (message) => this.#receive(message));
    setShown(this.#failure, false);
    root.append(
      element("header", { class: "head" }, this.#title, this.#where),
      this.#failure,
      this.#status,
      this.#body,
    );
    document.addEventListener("keydown", (event) => this.#key(event));
    this.#post({ type: "ready" });
  }

  #post(message: DistributiveOmit<FromJudge, "version">): void {
    this.#host.post({ version: judgeVersion, ...message });
  }

  #receive(message: ToJudge): void {
    switch (message.type) {
      case "rollouts":
        return this.#start(message);
      case "kept":
        return this.#kept(message.at, message.failure);
      case "report":
        return this.#show(message.report);
      case "asking":
        return this.#wait("Asking the judge about each label, twice…");
      case "failed":
        this.#wait(null);
        return this.#fail(message.message);
    }
  }

  #wait(text: string | null): void {
    setShown(this.#status, text !== null);
    setText(this.#status, text ?? "");
  }
  #fail(text: string | null): void {
    setShown(this.#failure, text !== null);
    setText(this.#failure, text ?? "");
  }

  #start({ state, name, file, before, rollouts }: Extract<ToJudge, { type: "rollouts" }>): void {
    this.#host.keep(state);
    this.#wait(null);
    this.#fail(null);
    setText(this.#title, `Label for ${state.term}`);
    const step = state.step === null ? "" : `, step ${state.step}`;
    this.#source = `${name}${step} · ${file}`;
    setText(this.#where, `${this.#source} · its scores are hidden until all are labelled`);
    if (rollouts.length === 0) return this.#ask(false);
    this.#labelling = new Labelling(state.term, rollouts, before, (act) => this.#act(act));
    this.#body.replaceChildren(this.#labelling.root);
    this.#labelling.focus();
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target instanceof HTMLInputElement) return;
    const act = this.#labelling?.actOf(event.key);
    if (act === undefined) return;
    event.preventDefault();
    this.#act(act);
  }

  #act(act: Act): void {
    const labelling = this.#labelling;
    if (labelling === undefined) return;
    this.#fail(null);
    if (act === "back") return labelling.back();
    const at = labelling.at;
    // Shown at once; the answer that it is in the file comes a moment later, and takes it back where it is not.
    labelling.label(act);
    this.#post({ type: "label", at, value: act });
  }

  #kept(at: number, failure: string | null): void {
    const labelling = this.#labelling;
    if (labelling === undefined) return;
    if (failure !== null) {
      labelling.takeBack(at);
      return this.#fail(failure);
    }
    labelling.keep(at);
    if (!labelling.complete) return;
    this.#labelling = undefined;
    this.#ask(false);
  }

  #ask(ask: boolean, threshold: number | null = null): void {
    if (this.#report === undefined) this.#wait("Comparing with the judge's scores…");
    this.#post({ type: "report", ask, threshold });
  }

  #show(report: JudgeReport): void {
    this.#report = report;
    this.#wait(null);
    this.#fail(null);
    setText(this.#title, `${report.term} and your labels`);
    setText(this.#where, this.#source);
    const view = reportView(report, {
      ask: () => this.#ask(true, null),
      threshold: (threshold) => this.#ask(report.scores === "asked", threshold),
      more: () => {
        this.#report = undefined;
        this.#wait("Drawing rollouts…");
        this.#post({ type: "more" });
      },
      openLabels: () => this.#post({ type: "openLabels" }),
      openRollout: ({ run, step, group, index }) => {
        if (run !== null) this.#post({ type: "openRollout", run, step, group, index });
      },
    });
    this.#body.replaceChildren(view);
    view.querySelector("h2")?.focus();
  }
}

type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;

new JudgePanel(document.getElementById("root")!);

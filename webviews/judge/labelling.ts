/** One rollout at a time: its prompt, its answer, and a button and a key for each label. */
import type { ShownRollout } from "../../shared/editor/judgePanel.ts";
import type { LabelValue } from "../../shared/rollouts/labels.ts";
import { visibleText } from "../../shared/lib/visibleText.ts";
import { button, element, setText } from "../shared/dom.ts";

export type Act = LabelValue | "back";

const acts: readonly { readonly act: Act; readonly key: string; readonly name: string }[] = [
  { act: "good", key: "g", name: "Good" },
  { act: "bad", key: "b", name: "Bad" },
  { act: "skip", key: "s", name: "Skip" },
  { act: "back", key: "u", name: "Back" },
];
const otherKeys: Readonly<Record<string, Act>> = { Backspace: "back", ArrowLeft: "back" };

interface Said {
  readonly value: LabelValue;
  /** Whether it is in the file. */
  readonly kept: boolean;
}

export class Labelling {
  #at = 0;
  readonly #said: (Said | undefined)[];
  readonly #progress = element("p", { class: "count" });
  readonly #bar = element("div", {});
  readonly #spoken = element("p", { class: "visually-hidden", role: "status" });
  readonly #prompt = element("pre", { class: "text prompt", tabindex: 0, "aria-labelledby": "prompt" });
  readonly #answer = element("pre", { class: "text answer", tabindex: 0, "aria-labelledby": "answer" });
  readonly #buttons: ReadonlyMap<Act, HTMLButtonElement>;
  readonly root: HTMLElement;

  constructor(
    term: string,
    private readonly rollouts: readonly ShownRollout[],
    private readonly before: number,
    press: (act: Act) => void,
  ) {
    this.#said = rollouts.map(() => undefined);
    this.#buttons = new Map(
      acts.map(({ act, key, name }) => {
        const made = button(
          name,
          {
            class: act === "good" || act === "bad" ? "label primary" : "label",
            "data-act": act,
            "aria-keyshortcuts": key,
          },
          () => press(act),
        );
        made.append(element("kbd", { "aria-hidden": "true" }, key));
        return [act, made];
      }),
    );
    this.root = element(
      "section",
      { class: "labelling", "aria-label": `Rollouts to label for ${term}` },
      element(
        "div",
        { class: "ahead" },
        this.#progress,
        element("div", { class: "progress", "aria-hidden": "true" }, this.#bar),
      ),
      element("h2", { id: "prompt" }, "prompt"),
      this.#prompt,
      element("h2", { id: "answer" }, "answer"),
      this.#answer,
      element("div", { class: "labels", role: "group", "aria-label": "Label" }, ...this.#buttons.values()),
      this.#spoken,
    );
    this.#show();
  }

  get at(): number {
    return this.#at;
  }
  /** Every rollout has a label that is in the file. */
  get complete(): boolean {
    return this.#said.every((said) => said?.kept === true);
  }

  actOf(key: string): Act | undefined {
    return acts.find((one) => one.key === key.toLowerCase())?.act ?? otherKeys[key];
  }

  /** Keys are heard wherever the focus is; here a screen reader begins to read. */
  focus(): void {
    this.#answer.focus({ preventScroll: true });
    this.#prompt.scrollTop = this.#prompt.scrollHeight;
  }

  label(value: LabelValue): void {
    this.#said[this.#at] = { value, kept: false };
    const next = this.#said.findIndex((said, at) => said === undefined && at > this.#at);
    const open = next === -1 ? this.#said.indexOf(undefined) : next;
    if (open !== -1) this.#at = open;
    this.#show();
  }

  keep(at: number): void {
    const said = this.#said[at];
    if (said !== undefined) this.#said[at] = { ...said, kept: true };
  }

  takeBack(at: number): void {
    this.#said[at] = undefined;
    this.#at = at;
    this.#show();
  }

  back(): void {
    this.#at = Math.max(0, this.#at - 1);
    this.#show();
  }

  #show(): void {
    const { prompt, response, finish } = this.rollouts[this.#at]!;
    const [number, all] = [this.before + this.#at + 1, this.before + this.rollouts.length];
    const said = this.#said[this.#at]?.value;
    setText(this.#progress, `${number} of ${all}`);
    const done = this.before + this.#said.filter((one) => one !== undefined).length;
    this.#bar.style.transform = `scaleX(${done / all})`;
    setText(this.#prompt, visibleText(prompt));
    setText(this.#answer, response === "" ? "(empty)" : visibleText(response));
    this.#answer.dataset["empty"] = String(response === "");
    if (finish === "length")
      this.#answer.append(element("span", { class: "muted" }, "\n(cut off at its length)"));
    for (const [act, made] of this.#buttons) {
      if (act === "back") made.disabled = this.#at === 0;
      else made.setAttribute("aria-pressed", String(said === act));
    }
    setText(
      this.#spoken,
      `${number} of ${all}. Answer: ${response === "" ? "empty" : visibleText(response).slice(0, 400)}`,
    );
    this.#prompt.scrollTop = this.#prompt.scrollHeight;
    window.scrollTo(0, 0);
  }
}

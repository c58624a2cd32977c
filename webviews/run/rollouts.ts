/** The rollouts of a step as a list of groups, and why one of them has its advantage. */
import { formatChange, formatNumber, plural } from "../../shared/format.ts";
import type { PanelGroup, RolloutPlace } from "../../shared/runPanel.ts";
import type { Why } from "../../shared/why.ts";
import { button, element, setShown, setText } from "../shared/dom.ts";
import { explanation } from "./why.ts";

export interface RolloutsEvents {
  readonly asked: (step: number) => void;
  readonly chosen: (place: RolloutPlace) => void;
  readonly closed: () => void;
}

const signOf = (value: number | null): string =>
  value === null || value === 0 ? "none" : value > 0 ? "positive" : "negative";

export class RolloutsView {
  readonly root = element("section", { class: "rollouts", "aria-labelledby": "rollouts-title" });
  readonly #title = element("h2", { id: "rollouts-title" }, "Rollouts and their advantages");
  readonly #show: HTMLButtonElement;
  readonly #steps = element("div", { class: "steps", role: "group", "aria-label": "Step" });
  readonly #before: HTMLButtonElement;
  readonly #after: HTMLButtonElement;
  readonly #status = element("p", { class: "muted", role: "status" });
  readonly #list = element("div", { class: "groups" });
  readonly #why = element("article", { class: "why", tabindex: -1, "aria-label": "Why this advantage" });
  readonly #chips = new Map<string, HTMLButtonElement>();
  #step: number | null = null;
  #last = -1;
  #target = -1;
  #chosen: RolloutPlace | null = null;

  constructor(private readonly events: RolloutsEvents) {
    this.#show = button("Show Rollouts", { class: "secondary" }, () => this.open(this.#target));
    this.#before = button("‹", { class: "quiet", "aria-label": "Step before" }, () => this.#move(-1));
    this.#after = button("›", { class: "quiet", "aria-label": "Step after" }, () => this.#move(1));
    this.#steps.append(this.#before, this.#after);
    this.root.append(element("header", {}, this.#title, this.#steps, this.#show), this.#status, this.#list);
    setShown(this.#steps, false);
    setShown(this.root, false);
  }

  get chosen(): RolloutPlace | null {
    return this.#chosen;
  }

  /** @param last the run's last step; @param cursor the step that the charts point at */
  update(last: number, cursor: number | null): void {
    this.#last = last;
    this.#target = cursor ?? last;
    setShown(this.root, last >= 0);
    setText(
      this.#show,
      this.#step === this.#target ? "Hide Rollouts" : `Show Rollouts of Step ${this.#target}`,
    );
    this.#before.disabled = this.#step === null || this.#step <= 0;
    this.#after.disabled = this.#step === null || this.#step >= last;
  }

  /** Asks for a step; once more for the one that is shown closes it. */
  open(step: number, chosen: RolloutPlace | null = null): void {
    const same = step === this.#step;
    this.#list.replaceChildren();
    this.#chips.clear();
    this.#chosen = chosen;
    this.#step = same ? null : step;
    setShown(this.#steps, !same);
    setText(this.#title, same ? "Rollouts and their advantages" : `Rollouts of step ${step}`);
    setText(this.#status, same ? "" : "Loading…");
    this.update(this.#last, this.#target);
    if (same) this.events.closed();
    else this.events.asked(step);
  }

  #move(by: number): void {
    if (this.#step !== null) this.open(Math.max(0, Math.min(this.#last, this.#step + by)));
  }

  list(step: number, groups: readonly PanelGroup[], more: number): void {
    if (step !== this.#step) return;
    this.#chips.clear();
    this.#list.replaceChildren(...groups.map((group) => this.#group(step, group)));
    setText(
      this.#status,
      groups.length === 0
        ? "No rollout of this step could train."
        : more > 0
          ? `${plural(more, "more rollout")} of the step: open them as a document.`
          : "",
    );
    const { chosen } = { chosen: this.#chosen };
    if (chosen !== null && chosen.step === step) this.#choose(chosen);
  }

  #group(step: number, { group, task, arm, verdict, rollouts }: PanelGroup): HTMLElement {
    const chips = rollouts.map(({ index, reward, advantage, sound }) => {
      const paid = reward === null ? "no reward" : `reward ${formatNumber(reward)}`;
      const had = advantage === null ? "no advantage" : `advantage ${formatChange(advantage)}`;
      const chip = button(
        advantage === null ? "–" : formatChange(advantage),
        {
          class: "chip",
          title: `#${index} · ${paid} · ${had}`,
          "aria-label": `Rollout ${index}: ${paid}, ${had}${sound ? "" : ", a term failed"}`,
          "aria-pressed": "false",
          "data-sign": signOf(advantage),
          ...(sound ? {} : { "data-failed": "true" }),
        },
        () => this.#choose({ step, group, index }),
      );
      this.#chips.set(`${group}#${index}`, chip);
      return chip;
    });
    const about = [task, ...(arm === "" ? [] : [arm]), verdict].join("  ·  ");
    return element(
      "div",
      { class: "group", "data-group": group },
      element("p", { class: "task" }, about),
      element("div", { class: "chips", role: "group", "aria-label": about }, ...chips),
    );
  }

  #choose(place: RolloutPlace): void {
    const chip = this.#chips.get(`${place.group}#${place.index}`);
    if (chip === undefined) return;
    const again = chip.getAttribute("aria-pressed") === "true";
    for (const one of this.#chips.values()) one.setAttribute("aria-pressed", String(one === chip && !again));
    this.#why.remove();
    this.#chosen = again ? null : place;
    if (again) return this.events.closed();
    this.#why.replaceChildren(element("p", { class: "muted", role: "status" }, "Working it out…"));
    chip.closest(".group")?.append(this.#why);
    this.events.chosen(place);
  }

  explain(why: Why, prompt: string, response: string): void {
    const { step, group, index } = this.#chosen ?? {};
    if (why.step !== step || why.group !== group || why.index !== index) return;
    this.#why.replaceChildren(...explanation(why, prompt, response));
  }

  unanswered(to: "rollouts" | "why", message: string): void {
    if (to === "rollouts") return setText(this.#status, message);
    this.#why.replaceChildren(element("p", { class: "refusal", role: "alert" }, message));
  }
}

/** The rollouts of a step as a list of groups, and why one of them has its advantage. */
import { formatChange, formatNumber, plural } from "../../../shared/lib/format.ts";
import type { Brush, PanelGroup, RolloutPlace } from "../../../shared/editor/runPanel.ts";
import type { Why } from "../../../shared/rollouts/why.ts";
import { button, element, setShown, setText } from "../../shared/dom.ts";
import { explanation, type RolloutTexts } from "./why.ts";

interface RolloutsEvents {
  readonly asked: (step: number) => void;
  readonly chosen: (place: RolloutPlace) => void;
  readonly closed: () => void;
  /** The brush is given up. */
  readonly cleared: () => void;
}

const untitled = "Rollouts and their advantages";

/** "Rollouts of steps 3 to 8 · countdown/3, countdown/4". */
function brushTitle({ from, to, names }: Brush): string {
  const steps = from === to ? `step ${from}` : `steps ${from} to ${to}`;
  const few = names.length <= 3 ? names : [...names.slice(0, 2), `${names.length - 2} more`];
  return `Rollouts of ${steps}${few.length === 0 ? "" : `  ·  ${few.join(", ")}`}`;
}

const keyOf = ({ step, group, index }: RolloutPlace): string => JSON.stringify([step, group, index]);
const signOf = (value: number | null): string =>
  value === null || value === 0 ? "none" : value > 0 ? "positive" : "negative";

export class RolloutsView {
  readonly root = element("section", { class: "rollouts", "aria-labelledby": "rollouts-title" });
  readonly #title = element("h2", { id: "rollouts-title" }, untitled);
  readonly #show: HTMLButtonElement;
  readonly #steps = element("div", { class: "steps", role: "group", "aria-label": "Step" });
  readonly #before: HTMLButtonElement;
  readonly #after: HTMLButtonElement;
  readonly #status = element("p", { class: "muted", role: "status" });
  readonly #list = element("div", { class: "groups" });
  readonly #why = element("article", { class: "why", tabindex: -1, "aria-label": "Why this advantage" });
  readonly #clear: HTMLButtonElement;
  readonly #chips = new Map<string, HTMLButtonElement>();
  #step: number | null = null;
  /** The number of the brush whose rollouts are listed. */
  #brush: number | null = null;
  #last = -1;
  #target = -1;
  #chosen: RolloutPlace | null = null;

  constructor(private readonly events: RolloutsEvents) {
    this.#show = button("Show Rollouts", { class: "secondary" }, () => this.open(this.#target));
    this.#before = button("‹", { class: "quiet", "aria-label": "Previous Step" }, () => this.#move(-1));
    this.#after = button("›", { class: "quiet", "aria-label": "Next Step" }, () => this.#move(1));
    this.#steps.append(this.#before, this.#after);
    this.#clear = button("Clear Selection", { class: "quiet" }, () => {
      this.closeBrush();
      this.events.cleared();
    });
    const head = element("header", {}, this.#title, this.#steps, this.#clear, this.#show);
    this.root.append(head, this.#status, this.#list);
    setShown(this.#clear, false);
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
    const brushed = this.#brush !== null;
    this.#begin(same ? null : step, null, same ? untitled : `Rollouts of step ${step}`, chosen);
    if (brushed) this.events.cleared();
    if (same) this.events.closed();
    else this.events.asked(step);
  }

  /** Awaits the rollouts of a brush; the caller asks for them. */
  openBrush(id: number, brush: Brush, chosen: RolloutPlace | null = null): void {
    this.#begin(null, id, brushTitle(brush), chosen);
  }
  closeBrush(): void {
    if (this.#brush !== null) this.#begin(null, null, untitled);
  }

  #begin(step: number | null, brush: number | null, title: string, chosen: RolloutPlace | null = null): void {
    this.#list.replaceChildren();
    this.#chips.clear();
    [this.#chosen, this.#step, this.#brush] = [chosen, step, brush];
    setShown(this.#steps, step !== null);
    setShown(this.#clear, brush !== null);
    setText(this.#title, title);
    setText(this.#status, step === null && brush === null ? "" : "Loading…");
    this.update(this.#last, this.#target);
  }

  #move(by: number): void {
    if (this.#step !== null) this.open(Math.max(0, Math.min(this.#last, this.#step + by)));
  }

  list(step: number, groups: readonly PanelGroup[], more: number): void {
    if (step !== this.#step) return;
    this.#fill(step, groups);
    setText(
      this.#status,
      groups.length === 0
        ? "No rollout of this step could train."
        : more > 0
          ? `${plural(more, "more rollout")} of the step: open them as a document.`
          : "",
    );
    if (this.#chosen?.step === step) this.#choose(this.#chosen);
  }

  listBrush(id: number, groups: readonly PanelGroup[], more: number): void {
    if (id !== this.#brush) return;
    this.#fill(0, groups);
    const left = more > 0 ? `${plural(more, "more rollout")}: select fewer steps to see them.` : "";
    setText(this.#status, groups.length === 0 ? "No rollouts are recorded here." : left);
    if (this.#chosen !== null) this.#choose(this.#chosen);
  }

  #fill(step: number, groups: readonly PanelGroup[]): void {
    this.#chips.clear();
    this.#list.replaceChildren(...groups.map((group) => this.#group(group.step ?? step, group)));
  }

  #group(step: number, { step: own, group, task, arm, verdict, rollouts }: PanelGroup): HTMLElement {
    const chips = rollouts.map(({ index, reward, advantage, sound }) => {
      const rewardText = reward === null ? "no reward" : `reward ${formatNumber(reward)}`;
      const had = advantage === null ? "no advantage" : `advantage ${formatChange(advantage)}`;
      const chip = button(
        advantage === null ? "–" : formatChange(advantage),
        {
          class: "chip",
          title: `#${index} · ${rewardText} · ${had}`,
          "aria-label": `Rollout ${index}: ${rewardText}, ${had}${sound ? "" : ", a term failed"}`,
          "aria-pressed": "false",
          "data-sign": signOf(advantage),
          ...(sound ? {} : { "data-failed": "true" }),
        },
        () => this.#choose({ step, group, index }),
      );
      this.#chips.set(keyOf({ step, group, index }), chip);
      return chip;
    });
    const about = [
      ...(own === undefined ? [] : [`step ${own}`]),
      task,
      ...(arm === "" ? [] : [arm]),
      verdict,
    ].join("  ·  ");
    return element(
      "div",
      { class: "group", "data-group": group },
      element("p", { class: "task" }, about),
      element("div", { class: "chips", role: "group", "aria-label": about }, ...chips),
    );
  }

  #choose(place: RolloutPlace): void {
    const chip = this.#chips.get(keyOf(place));
    if (chip === undefined) return;
    const again = chip.getAttribute("aria-pressed") === "true";
    for (const one of this.#chips.values()) one.setAttribute("aria-pressed", String(one === chip && !again));
    this.#why.remove();
    this.#chosen = again ? null : place;
    if (again) return this.events.closed();
    this.#why.replaceChildren(element("p", { class: "muted", role: "status" }, "Computing…"));
    chip.closest(".group")?.append(this.#why);
    this.events.chosen(place);
  }

  explain(why: Why, texts: RolloutTexts): void {
    const { step, group, index } = this.#chosen ?? {};
    if (why.step !== step || why.group !== group || why.index !== index) return;
    this.#why.replaceChildren(...explanation(why, texts));
  }

  unanswered(to: "rollouts" | "why", message: string): void {
    if (to === "rollouts") return setText(this.#status, message);
    this.#why.replaceChildren(element("p", { class: "refusal", role: "alert" }, message));
  }
}

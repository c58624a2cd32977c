/** The rollouts of the cursor's step: one group at a time, its answers as text first, and why one has its advantage. */
import { formatChange, formatCount, formatNumber, plural } from "../../../shared/lib/format.ts";
import type { Brush, PanelGroup, RolloutPlace, ToPanel } from "../../../shared/editor/runPanel.ts";
import type { Why } from "../../../shared/rollouts/why.ts";
import { button, element, setShown, setText } from "../../shared/dom.ts";
import { roving } from "../../shared/roving.ts";
import { brushTitle, firstGroup, firstRollout, groupWords, nextWithSignal, signOf } from "./rolloutsModel.ts";
import { explanation, type RolloutTexts } from "./why.ts";

interface RolloutsEvents {
  /** The rollouts of a step are wanted. */
  readonly asked: (step: number) => void;
  readonly chosen: (place: RolloutPlace) => void;
  readonly closed: () => void;
  /** A person works with a step's rollouts, or wants those of another: the cursor stays there. */
  readonly pinned: (step: number) => void;
  /** The brush is given up. */
  readonly cleared: () => void;
  /** As a document of the editor. */
  readonly opened: (step: number) => void;
}

const untitled = "Rollouts";
const quiet = { class: "quiet" };

export class RolloutsView {
  readonly root = element("aside", { class: "rollouts", "aria-labelledby": "rollouts-title" });
  readonly #title = element("h2", { id: "rollouts-title" }, untitled);
  readonly #steps = element("div", { class: "steps", role: "group", "aria-label": "Step" });
  readonly #before = button("‹", { ...quiet, "aria-label": "Previous Step" }, () => this.#step1(-1));
  readonly #after = button("›", { ...quiet, "aria-label": "Next Step" }, () => this.#step1(1));
  readonly #document = button("Open as Document", quiet, () => {
    if (this.#step !== null) this.events.opened(this.#step);
  });
  readonly #clear = button("Clear Selection", quiet, () => {
    this.closeBrush();
    this.events.cleared();
  });
  readonly #status = element("p", { class: "muted", role: "status" });
  readonly #map = element("div", { class: "group-map", role: "group", "aria-label": "Groups of the step" });
  readonly #nav = element("div", { class: "group-nav", role: "group", "aria-label": "Group" });
  readonly #previous = button("◂ Group", { ...quiet, "aria-label": "Previous Group" }, () =>
    this.#go(this.#at - 1),
  );
  readonly #place = element("span", { class: "muted" });
  readonly #next = button("Group ▸", { ...quiet, "aria-label": "Next Group" }, () => this.#go(this.#at + 1));
  readonly #signal = button("Next With Signal ▸", quiet, () =>
    this.#go(nextWithSignal(this.#groups, this.#at) ?? this.#at),
  );
  readonly #group = element("div", { class: "group" });
  readonly #text = element("div", { class: "answer" });
  readonly #explain = button("Explain", { class: "secondary" }, () => this.#toggleWhy());
  readonly #why = element("article", { class: "why", tabindex: -1, "aria-label": "Why this advantage" });
  readonly #siblings = element("div", {
    class: "chips",
    role: "group",
    "aria-label": "Rollouts of the group",
  });
  readonly #mapKeys = roving(this.#map);
  readonly #siblingKeys = roving(this.#siblings);
  #chips: readonly HTMLButtonElement[] = [];
  #groups: readonly PanelGroup[] = [];
  /** The group that is shown, and which of its rollouts. */
  #at = 0;
  #index = 0;
  #step: number | null = null;
  /** The number of the brush whose rollouts are listed. */
  #brush: number | null = null;
  #last = -1;
  /** What shall be shown, and explained, once its step is listed. */
  #wanted: RolloutPlace | null = null;
  #explained = false;

  constructor(private readonly events: RolloutsEvents) {
    this.#steps.append(this.#before, this.#after);
    this.#nav.append(this.#previous, this.#place, this.#next, this.#signal);
    this.root.append(
      element("header", {}, this.#title, this.#steps, this.#clear, this.#document),
      this.#status,
      this.#map,
      this.#nav,
      this.#group,
    );
    this.#fill([]);
    setShown(this.#clear, false);
    setShown(this.root, false);
  }

  /** The rollout that is explained. */
  get chosen(): RolloutPlace | null {
    return this.#explained ? this.#here() : this.#wanted;
  }
  /** Whether what is listed was marked on the curriculum's lanes: then it does not follow the cursor. */
  get brushed(): boolean {
    return this.#brush !== null;
  }

  /** @param last the run's last step */
  update(last: number): void {
    this.#last = last;
    setShown(this.root, last >= 0);
    setShown(this.#steps, this.#step !== null);
    setShown(this.#document, this.#step !== null);
    this.#before.disabled = this.#step === null || this.#step <= 0;
    this.#after.disabled = this.#step === null || this.#step >= last;
  }

  /** Asks for a step's rollouts, unless they are those that are shown. @param wanted which of them to explain */
  follow(step: number, wanted: RolloutPlace | null = null): void {
    if (wanted !== null && step === this.#step && this.#groups.length > 0) return this.#show(wanted);
    if (step === this.#step && this.#brush === null) return;
    if (this.#brush !== null) this.events.cleared();
    this.#begin(step, null, `Rollouts of step ${formatCount(step)}`, wanted);
    this.events.asked(step);
  }
  /** Awaits the rollouts of a brush; the caller asks for them. */
  openBrush(id: number, brush: Brush, wanted: RolloutPlace | null = null): void {
    this.#begin(null, id, brushTitle(brush), wanted);
  }
  closeBrush(): void {
    if (this.#brush !== null) this.#begin(null, null, untitled);
  }

  #begin(step: number | null, brush: number | null, title: string, wanted: RolloutPlace | null = null): void {
    [this.#step, this.#brush, this.#wanted] = [step, brush, wanted];
    this.#explained = false;
    setShown(this.#clear, brush !== null);
    setText(this.#title, title);
    setText(this.#status, step === null && brush === null ? "" : "Loading…");
    // What was shown stays until the answer comes: a list that vanishes under a moving cursor flickers.
    if (step === null && brush === null) this.#fill([]);
    this.root.setAttribute("aria-busy", String(step !== null || brush !== null));
    this.update(this.#last);
  }

  /** An answer to one of its questions. */
  answered(message: Extract<ToPanel, { type: "brushed" | "rollouts" | "why" }>): void {
    if (message.type === "why") this.#tell(message.why, message);
    else if (message.type === "rollouts") this.#list(message);
    else this.#listBrush(message);
  }

  #list({ step, groups, more }: Extract<ToPanel, { type: "rollouts" }>): void {
    if (step !== this.#step) return;
    const left = more > 0 ? `${plural(more, "more rollout")} of the step: open them as a document.` : "";
    this.#listed(groups, groups.length === 0 ? "No rollouts that train are recorded for this step." : left);
  }
  #listBrush({ id, groups, more }: Extract<ToPanel, { type: "brushed" }>): void {
    if (id !== this.#brush) return;
    const left = more > 0 ? `${plural(more, "more rollout")}: select fewer steps to see them.` : "";
    this.#listed(groups, groups.length === 0 ? "No rollouts are recorded here." : left);
  }
  #listed(groups: readonly PanelGroup[], status: string): void {
    this.root.setAttribute("aria-busy", "false");
    setText(this.#status, status);
    this.#fill(groups);
    const wanted = this.#wanted;
    this.#wanted = null;
    if (wanted !== null) this.#show(wanted);
  }

  #fill(groups: readonly PanelGroup[]): void {
    this.#groups = groups;
    setShown(this.#map, groups.length > 1);
    setShown(this.#nav, groups.length > 1);
    setShown(this.#group, groups.length > 0);
    this.#map.replaceChildren(
      ...groups.map((group, i) => {
        const words = groupWords(group);
        const own = button("", { class: "square", title: words, "aria-label": words }, () => this.#go(i));
        const rate = group.right === null ? null : group.right / Math.max(1, group.rollouts.length);
        own.dataset["signal"] = String(group.signal);
        if (rate !== null) own.style.setProperty("--rate", `${Math.round(100 * rate)}%`);
        return own;
      }),
    );
    this.#draw(firstGroup(groups));
  }

  /** Shows a group, with its most reinforced rollout. */
  #draw(at: number, index?: number): void {
    const group = this.#groups[at];
    if (group === undefined) return;
    [this.#at, this.#explained] = [at, false];
    [...this.#map.children].forEach((square, i) => square.setAttribute("aria-pressed", String(i === at)));
    this.#mapKeys.settle();
    setText(this.#place, `${at + 1} of ${this.#groups.length}`);
    this.#previous.disabled = at === 0;
    this.#next.disabled = at === this.#groups.length - 1;
    this.#signal.disabled = nextWithSignal(this.#groups, at) === null;
    this.#chips = group.rollouts.map((rollout, i) => this.#chip(rollout, i));
    this.#siblings.replaceChildren(...this.#chips);
    this.#group.dataset["group"] = group.group;
    this.#group.replaceChildren(
      element("p", { class: "task" }, groupWords(group)),
      ...(group.prompt === ""
        ? []
        : [element("pre", { class: "prompt", tabindex: 0, "aria-label": "Prompt" }, group.prompt)]),
      this.#text,
      this.#siblings,
      this.#why,
    );
    this.#choose(index ?? firstRollout(group));
  }

  #chip(
    { index, reward, advantage, sound, text }: PanelGroup["rollouts"][number],
    place: number,
  ): HTMLButtonElement {
    const rewardText = reward === null ? "no reward" : `reward ${formatNumber(reward)}`;
    const had = advantage === null ? "no advantage" : `advantage ${formatChange(advantage)}`;
    const chip = button(
      "",
      {
        class: "chip",
        title: `#${index} · ${rewardText} · ${had}`,
        "aria-pressed": "false",
        "data-sign": signOf(advantage),
        ...(sound ? {} : { "data-failed": "true" }),
      },
      () => {
        const again = place === this.#index && this.#explained;
        this.#hold();
        this.#choose(place);
        if (again) this.events.closed();
        else this.#toggleWhy();
      },
    );
    const hidden = `Rollout ${index}: ${rewardText}${sound ? "" : ", a term failed"}, ${advantage === null ? "no advantage" : "advantage"} `;
    chip.append(
      element("span", { class: "visually-hidden" }, hidden),
      element("b", {}, advantage === null ? "–" : formatChange(advantage)),
      text === ""
        ? element("i", { class: "muted" }, "empty")
        : element("span", { class: "beginning" }, text.slice(0, 200)),
    );
    return chip;
  }

  #choose(place: number): void {
    const rollout = this.#groups[this.#at]?.rollouts[place];
    if (rollout === undefined) return;
    [this.#index, this.#explained] = [place, false];
    this.#chips.forEach((chip, i) => chip.setAttribute("aria-pressed", String(i === place)));
    this.#siblingKeys.settle();
    const terms = Object.entries(rollout.terms).map(([name, value]) =>
      element(
        "span",
        {},
        `${name} `,
        element("b", {}, value === null ? "does not apply" : formatNumber(value)),
      ),
    );
    const text = element(
      "pre",
      { tabindex: 0, "aria-label": `Response of rollout ${rollout.index}` },
      rollout.text,
    );
    this.#text.replaceChildren(
      element(
        "p",
        { class: "numbers" },
        element("b", {}, `#${rollout.index}`),
        element("span", {}, "advantage ", element("b", {}, formatChange(rollout.advantage))),
        element("span", {}, "reward ", element("b", {}, formatNumber(rollout.reward))),
        ...terms,
      ),
      rollout.text === "" ? element("p", { class: "muted" }, "The answer is empty.") : text,
      ...(rollout.whole ? [] : [element("p", { class: "muted" }, "The rest comes with the explanation.")]),
      this.#explain,
    );
    this.#tellWhy();
  }

  #toggleWhy(): void {
    const place = this.#here();
    if (place === null) return;
    this.#explained = !this.#explained;
    this.#tellWhy();
    this.#hold();
    if (!this.#explained) return this.events.closed();
    this.#why.replaceChildren(element("p", { class: "muted", role: "status" }, "Computing…"));
    this.events.chosen(place);
  }
  #tellWhy(): void {
    setText(this.#explain, this.#explained ? "Hide Explanation" : "Explain");
    setShown(this.#why, this.#explained);
    if (!this.#explained) this.#why.replaceChildren();
  }

  #here(): RolloutPlace | null {
    const group = this.#groups[this.#at];
    const step = group?.step ?? this.#step;
    const rollout = group?.rollouts[this.#index];
    return group === undefined || step === null || rollout === undefined
      ? null
      : { step, group: group.group, index: rollout.index };
  }

  /** A rollout by name, and why it has its advantage. */
  #show({ step, group, index }: RolloutPlace): void {
    const at = this.#groups.findIndex((one) => one.group === group && (one.step ?? step) === step);
    const place = this.#groups[at]?.rollouts.findIndex((rollout) => rollout.index === index) ?? -1;
    if (at < 0 || place < 0) return;
    this.#draw(at, place);
    this.#toggleWhy();
  }
  #go(at: number): void {
    this.#hold();
    this.#draw(Math.max(0, Math.min(this.#groups.length - 1, at)));
  }
  #hold(): void {
    if (this.#step !== null) this.events.pinned(this.#step);
  }
  #step1(by: number): void {
    if (this.#step !== null) this.events.pinned(Math.max(0, Math.min(this.#last, this.#step + by)));
  }

  #tell(why: Why, texts: RolloutTexts): void {
    const { step, group, index } = (this.#explained ? this.#here() : null) ?? {};
    if (why.step !== step || why.group !== group || why.index !== index) return;
    this.#why.replaceChildren(...explanation(why, texts));
  }

  unanswered(to: "rollouts" | "why", message: string): void {
    if (to === "why")
      return this.#why.replaceChildren(element("p", { class: "refusal", role: "alert" }, message));
    this.#fill([]);
    this.root.setAttribute("aria-busy", "false");
    setText(this.#status, message);
  }
}

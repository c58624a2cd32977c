/** What the run comes to, on top of the panel: the state, why, what speaks against it, what to do. */
import { isLive, type RunStatus } from "../../../shared/protocol/runStatus.ts";
import {
  isAlarm,
  plainText,
  verdictMarks,
  type Verdict,
  type VerdictFix,
} from "../../../shared/run/verdict.ts";
import { button, element, setShown, withCode } from "../../shared/dom.ts";
import { formatCount } from "../../../shared/lib/format.ts";

interface VerdictEvents {
  /** A rollout that it names. */
  readonly looked: (rollout: Verdict["rollouts"][number]) => void;
  readonly pinned: (step: number) => void;
  readonly fixed: (fix: number) => void;
  readonly dismissed: () => void;
}

export class VerdictCard {
  readonly root = element("section", { class: "card", "aria-label": "Verdict" });
  #drawn = "";

  constructor(private readonly events: VerdictEvents) {
    setShown(this.root, false);
  }

  /** Rebuilt only where it says something else: a button that is replaced under the finger loses focus. */
  update(verdict: Verdict | null | undefined, status: RunStatus): void {
    const signature = JSON.stringify([verdict ?? null, isLive(status)]);
    if (signature === this.#drawn) return;
    this.#drawn = signature;
    setShown(this.root, verdict != null);
    if (verdict == null) return;
    this.root.dataset["tone"] = isAlarm(verdict.state) ? "alarm" : verdict.state;
    this.root.replaceChildren(
      this.#title(verdict),
      ...this.#sentences(verdict),
      ...(verdict.fixes.length === 0 ? [] : [this.#fixes(verdict.fixes, isLive(status))]),
      this.#foot(verdict),
    );
  }

  #title({ state, label, since, headline, dismissed }: Verdict): HTMLElement {
    const leads = headline.toLowerCase().startsWith(state);
    const begin =
      since === null
        ? []
        : [
            button(beginText(since, leads ? headline : ""), { class: "link" }, () =>
              this.events.pinned(since),
            ),
          ];
    return element(
      "header",
      { role: "status" },
      element(
        "div",
        { class: "state-line" },
        element("span", { class: "mark", "aria-hidden": "true" }, verdictMarks[state]),
        // Most headlines begin with the state: to say it twice helps nobody.
        element("h2", {}, ...withCode(leads ? headline : label)),
      ),
      ...begin,
      ...(dismissed === undefined
        ? []
        : [element("span", { class: "muted" }, `dismissed: ${dismissed.reason}`)]),
      ...(leads ? [] : [element("p", { class: "headline" }, ...withCode(headline))]),
    );
  }

  #sentences({ details, against, cause }: Verdict): HTMLElement[] {
    const said = details.slice(0, 3).map((text) => element("p", {}, ...withCode(text)));
    const about =
      cause === null || (cause.term === null && cause.key === null)
        ? []
        : [
            element(
              "p",
              { class: "muted" },
              ...withCode(
                `${cause.shown ? "Cause" : "Together with"}: ${cause.term === null ? `\`${cause.key ?? ""}\`` : `the reward term \`${cause.term}\``}. ${cause.shown ? "Scored again without it, the effect is gone." : "That it is the cause is not shown."}`,
              ),
            ),
          ];
    const other =
      against === null
        ? []
        : [element("p", { class: "against" }, element("b", {}, "Against: "), ...withCode(against))];
    return [...said, ...about, ...other];
  }

  #fixes(fixes: readonly VerdictFix[], live: boolean): HTMLElement {
    const rows = fixes.map((fix, i) =>
      element(
        "li",
        {},
        button(plainText(fix.title), { class: i === 0 ? "primary" : "secondary", title: editsOf(fix) }, () =>
          this.events.fixed(i),
        ),
        element(
          "span",
          {},
          ...withCode(fix.effect ?? "effect unknown until tried"),
          ...(fix.leaves === null
            ? []
            : [element("span", { class: "muted" }, ` · not solved: ${fix.leaves}`)]),
        ),
      ),
    );
    const list = element("ul", { class: "fixes", "aria-label": "Fixes" }, ...rows);
    return live
      ? element(
          "div",
          {},
          list,
          element("p", { class: "note muted" }, "They edit the config: this run goes on as it began."),
        )
      : list;
  }

  /** What is no alarm needs no dismissal. */
  #foot({ state, rollouts, reliability }: Verdict): HTMLElement {
    return element(
      "footer",
      {},
      ...rollouts
        .slice(0, 3)
        .map((rollout) =>
          button(
            plainText(`#${rollout.index} of step ${formatCount(rollout.step)}: ${rollout.why}`),
            { class: "quiet edge" },
            () => this.events.looked(rollout),
          ),
        ),
      ...(isAlarm(state)
        ? [
            element(
              "span",
              { class: "wrong" },
              element(
                "span",
                { class: "muted" },
                reliability ?? "How often such a verdict is wrong was not measured.",
              ),
              button("Dismiss, because…", { class: "quiet edge" }, () => this.events.dismissed()),
            ),
          ]
        : []),
    );
  }
}

const editsOf = ({ set }: VerdictFix): string =>
  set.map(({ path, value }) => `${path}: ${JSON.stringify(value)}`).join("\n");

/** Where the headline has the step, the button says what it does with it. */
function beginText(since: number, headline: string): string {
  const step = formatCount(since);
  return headline.includes(`step ${step}`) ? `Show Step ${step}` : `since step ${step}`;
}

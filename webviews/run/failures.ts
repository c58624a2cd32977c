/** What reward terms failed with: each message once, with how often it came and a way to the line that threw. */
import { formatNumber, plural } from "../../shared/lib/format.ts";
import { placeText, shortFailure } from "../../shared/rollouts/failureText.ts";
import type { RewardFailure } from "../../shared/run/outcome.ts";
import type { PanelFailures } from "../../shared/editor/runPanel.ts";
import { button, element, setShown } from "../shared/dom.ts";

/** Messages that are listed; a run that fails in more ways than this is read in its log. */
const most = 5;

export type OpenPlace = (place: {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}) => void;

export class FailuresView {
  readonly root = element("section", { class: "failures", "aria-label": "Why rewards failed" });
  #drawn = "";

  constructor(
    private readonly open: OpenPlace,
    private readonly openLog: () => void,
  ) {
    setShown(this.root, false);
  }

  /** Rebuilt only when it says something else: a link that is replaced under the finger loses focus. */
  update(failures: PanelFailures | undefined): void {
    const signature = JSON.stringify(failures ?? null);
    if (signature === this.#drawn) return;
    this.#drawn = signature;
    const listed = failures?.failures.slice(0, most) ?? [];
    setShown(this.root, listed.length > 0);
    const more = (failures?.kinds ?? 0) - listed.length;
    this.root.replaceChildren(
      element("h2", {}, "Why rewards failed"),
      element("ul", {}, ...listed.map((failure) => this.#row(failure))),
      ...(more > 0
        ? [button(`${plural(more, "more message")} in the log`, { class: "quiet" }, () => this.openLog())]
        : []),
    );
  }

  #row(failure: RewardFailure): HTMLElement {
    const { term, message, count, first, last, file, line, column } = failure;
    const place = placeText(failure);
    const steps = first === last ? `step ${first}` : `steps ${first} to ${last}`;
    return element(
      "li",
      {},
      element("span", { class: "count" }, `${formatNumber(count)}×`),
      element("code", {}, term),
      element("span", { class: "message", title: message }, shortFailure(message)),
      ...(place === null || file === null
        ? []
        : [
            button(place, { class: "link", title: file, "aria-label": `Open ${place}` }, () =>
              this.open({ file, line: line ?? 1, column: column ?? 1 }),
            ),
          ]),
      element("span", { class: "muted" }, steps),
    );
  }
}

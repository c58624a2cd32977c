/** Which steps all charts show, so that one crosshair means one moment. */
import type { PanelRun } from "../../shared/editor/runPanel.ts";
import { button, element, setShown } from "../shared/dom.ts";
import { firstTraining } from "./models.ts";
import { formatCount } from "../../shared/lib/format.ts";

/** A range whose end is the run's end, however far that moves. */
export const openEnd = Number.MAX_SAFE_INTEGER;
export type StepRange = readonly [from: number, to: number];

/** Training only, unless asked otherwise. */
export function framed(run: PanelRun, last: number, range: StepRange | null): StepRange {
  if (range !== null) return [range[0], Math.max(range[0] + 1, Math.min(range[1], last))];
  const begins = firstTraining(run);
  return begins === null || begins > last ? [0, Math.max(last, 1)] : [begins, Math.max(last, begins + 1)];
}

interface RangeEvents {
  readonly zoomed: (range: StepRange | null) => void;
  readonly released: () => void;
}

/** Which part of the run is shown, and where the cursor stays: with the way back from either. */
export class RangeButtons {
  readonly root = element("div", { class: "views", role: "group", "aria-label": "Steps in view" });

  constructor(private readonly events: RangeEvents) {}

  update(run: PanelRun, range: StepRange | null, pinned: number | null): void {
    const begins = firstTraining(run);
    const warmed = begins !== null && begins > 0;
    const whole = range !== null && range[0] === 0 && range[1] === openEnd;
    const signature = `${warmed}${String(range)}${pinned}`;
    if (this.root.dataset["shown"] === signature) return;
    this.root.dataset["shown"] = signature;
    const choice = (label: string, chosen: boolean, to: StepRange | null): HTMLButtonElement =>
      button(label, { class: "quiet", "aria-pressed": String(chosen) }, () => this.events.zoomed(to));
    const buttons = [
      ...(warmed ? [choice("Training", range === null, null), choice("Whole Run", whole, [0, openEnd])] : []),
      ...(range !== null && !whole ? [choice(`Steps ${range[0]} to ${range[1]}  ✕`, true, null)] : []),
      ...(pinned === null
        ? []
        : [
            button(
              `Cursor at Step ${formatCount(pinned)}  ✕`,
              {
                class: "quiet",
                "aria-pressed": "true",
                "aria-label": `Cursor at Step ${formatCount(pinned)}: release it`,
              },
              () => this.events.released(),
            ),
          ]),
    ];
    this.root.replaceChildren(...buttons);
    setShown(this.root, buttons.length > 0);
  }
}

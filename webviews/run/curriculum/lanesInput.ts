/** What a person does on the lanes' picture: pointing, dragging, keys. */
import type { CurriculumOverview } from "../../../shared/protocol/protocol.ts";
import { columnCount, type CellPlace } from "./lanesModel.ts";

interface LanesInput {
  /** The cell at a place of the window. */
  readonly under: (x: number, y: number) => CellPlace | null;
  /** A drag may begin. */
  readonly press: () => void;
  readonly point: (place: CellPlace | null) => void;
  readonly drag: (from: CellPlace, to: CellPlace) => void;
  readonly drop: (from: CellPlace, to: CellPlace) => void;
  readonly key: (event: KeyboardEvent) => void;
}

export function listenTo(area: HTMLElement, { under, press, point, drag, drop, key }: LanesInput): void {
  let anchor: CellPlace | null = null;
  const place = (event: PointerEvent): CellPlace | null => under(event.clientX, event.clientY);
  area.addEventListener("pointerdown", (event) => {
    anchor = place(event);
    press();
    area.setPointerCapture(event.pointerId);
  });
  area.addEventListener("pointermove", (event) => {
    const here = place(event);
    point(here);
    if (anchor !== null && here !== null && event.buttons !== 0) drag(anchor, here);
  });
  area.addEventListener("pointerup", (event) => {
    const here = place(event);
    if (anchor === null || here === null) return;
    point(here);
    drop(anchor, here);
    anchor = null;
  });
  area.addEventListener("pointerleave", () => {
    if (anchor === null) point(null);
  });
  area.addEventListener("keydown", key);
}

/** Where a key leads from a cell; undefined: it is none of these. */
export function moved(overview: CurriculumOverview, here: CellPlace, key: string): CellPlace | undefined {
  const [lanes, columns] = [overview.lanes.length - 1, columnCount(overview) - 1];
  const moves: Readonly<Record<string, CellPlace>> = {
    ArrowLeft: { ...here, column: Math.max(0, here.column - 1) },
    ArrowRight: { ...here, column: Math.min(columns, here.column + 1) },
    ArrowUp: { ...here, lane: Math.max(0, here.lane - 1) },
    ArrowDown: { ...here, lane: Math.min(lanes, here.lane + 1) },
    Home: { ...here, column: 0 },
    End: { ...here, column: columns },
  };
  return moves[key];
}

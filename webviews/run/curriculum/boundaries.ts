/** Handles where a stage ends: dragged or moved by keys, they ask for the config to be edited. */
import { plural } from "../../../shared/lib/format.ts";
import { element } from "../../shared/dom.ts";
import type { Boundary } from "./lanesModel.ts";

interface BoundaryEvents {
  readonly moved: (stage: string, was: number, steps: number) => void;
  /** What letting go would do; empty: nothing. */
  readonly said: (text: string) => void;
}
/** Between steps and CSS pixels of the picture. */
export interface StepScale {
  readonly xOf: (step: number) => number;
  readonly stepAt: (x: number) => number;
  readonly from: number;
  readonly to: number;
}

export class Boundaries {
  readonly root = element("div", { class: "boundaries" });
  #drawn = "";
  #scale: StepScale | null = null;
  #handles: readonly Handle[] = [];

  constructor(private readonly events: BoundaryEvents) {}

  update(boundaries: readonly Boundary[], scale: StepScale): void {
    this.#scale = scale;
    const seen = boundaries.filter(({ step }) => step >= scale.from && step <= scale.to);
    const signature = JSON.stringify(seen);
    if (signature !== this.#drawn) {
      this.#drawn = signature;
      this.#handles = seen.map((boundary) => new Handle(boundary, this.events, () => this.#scale));
      this.root.replaceChildren(...this.#handles.map((handle) => handle.root));
    }
    for (const handle of this.#handles) handle.place();
  }
}

class Handle {
  readonly root: HTMLElement;
  /** Where it would end. */
  #step: number;

  constructor(
    private readonly boundary: Boundary,
    private readonly events: BoundaryEvents,
    private readonly scale: () => StepScale | null,
  ) {
    this.#step = boundary.step;
    const label = `End of stage ${boundary.stage}. Arrow keys move it, Enter changes the config, Escape resets it`;
    this.root = element("div", {
      class: "handle",
      role: "slider",
      tabindex: 0,
      title: "Drag to change the stage's steps in the config",
      "aria-label": label,
      "aria-valuemin": String(boundary.start + 1),
      "aria-valuemax": String(boundary.limit),
    });
    this.#listen();
  }

  place(): void {
    const x = this.scale()?.xOf(this.#step) ?? 0;
    this.root.style.left = `${x}px`;
    this.root.setAttribute("aria-valuenow", String(this.#step));
    this.root.setAttribute("aria-valuetext", this.#words());
  }

  #words(): string {
    const { stage, start, steps } = this.boundary;
    const now = this.#step - start;
    return `${stage}: ${plural(now, "step")}${now === steps ? "" : `, was ${steps}`}`;
  }

  #to(step: number): void {
    const { start, limit } = this.boundary;
    this.#step = Math.min(limit, Math.max(start + 1, Math.round(step)));
    this.place();
    this.events.said(this.#step === this.boundary.step ? "" : this.#words());
  }

  /** The run keeps its boundary: the handle goes back, whatever becomes of the file. */
  #finish(keep: boolean): void {
    const { stage, start, step, steps } = this.boundary;
    const asked = this.#step;
    this.#to(step);
    if (keep && asked !== step) this.events.moved(stage, steps, asked - start);
  }

  #listen(): void {
    let held = false;
    this.root.addEventListener("pointerdown", (event) => {
      held = true;
      this.root.setPointerCapture(event.pointerId);
    });
    this.root.addEventListener("pointermove", (event) => {
      const parent = this.root.parentElement?.getBoundingClientRect();
      const scale = this.scale();
      if (held && parent !== undefined && scale !== null) this.#to(scale.stepAt(event.clientX - parent.left));
    });
    this.root.addEventListener("pointerup", () => {
      held = false;
      this.#finish(true);
    });
    this.root.addEventListener("pointercancel", () => {
      held = false;
      this.#finish(false);
    });
    this.root.addEventListener("keydown", (event) => this.#onKey(event));
  }

  #onKey(event: KeyboardEvent): void {
    const stride = event.shiftKey ? 10 : 1;
    if (event.key === "ArrowLeft") this.#to(this.#step - stride);
    else if (event.key === "ArrowRight") this.#to(this.#step + stride);
    else if (event.key === "Enter") this.#finish(true);
    else if (event.key === "Escape") this.#finish(false);
    else return;
    event.preventDefault();
  }
}

/** What the lanes count along, how their values lie, and how much they are smoothed. */
import type { RunSeries } from "../../shared/series.ts";
import { element } from "../../shared/dom.ts";
import { scaleKinds, type ScaleKind } from "./scale.ts";
import { kindsOf, xKinds, type XKind } from "./xAxes.ts";

export interface Chosen {
  readonly x: XKind;
  readonly scale: ScaleKind;
  /** Factor of the moving average; 0: none. */
  readonly smooth: number;
}
const factors = [0, 0.5, 0.8, 0.9, 0.97, 0.99];

export class Controls {
  readonly root = element("div", { class: "controls", role: "group", "aria-label": "How curves are drawn" });
  readonly #x = select(xKinds);
  readonly #scale = select(scaleKinds);
  readonly #smooth = select(factors.map((factor) => (factor === 0 ? "off" : String(factor))));

  constructor(changed: () => void) {
    this.root.append(
      element("label", {}, "x axis", this.#x),
      element("label", {}, "y axis", this.#scale),
      element(
        "label",
        { title: "Debiased moving average over every recorded point" },
        "smoothing",
        this.#smooth,
      ),
    );
    this.root.addEventListener("change", changed);
  }

  get chosen(): Chosen {
    return {
      x: xKinds.find((kind) => kind === this.#x.value) ?? "step",
      scale: scaleKinds.find((kind) => kind === this.#scale.value) ?? "linear",
      smooth: factors[this.#smooth.selectedIndex] ?? 0,
    };
  }
  /** What the run has not recorded cannot be counted along. */
  update(series: RunSeries): void {
    const known = kindsOf(series);
    for (const option of this.#x.options) option.disabled = !known.some((kind) => kind === option.value);
  }
}

const select = (values: readonly string[]): HTMLSelectElement =>
  element("select", {}, ...values.map((value) => element("option", {}, value)));

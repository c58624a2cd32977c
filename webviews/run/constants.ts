/** Charts in which nothing moves, as one line of text. */
import { constantOf, formatValue, type ChartModel } from "../shared/chartModel.ts";
import { button, element, setShown, setText, unbroken } from "../shared/dom.ts";

/** "Groups drawn and trained: drawn 16, trained 16"; null where something moves or nothing is drawn. */
export function constants(title: string, { lines, empty, least }: ChartModel): string | null {
  if (empty !== null) return null;
  const values = lines.map((line) => constantOf(line, least));
  if (values.some((value) => value === undefined)) return null;
  return `${title}: ${lines.map(({ name, format }, i) => `${name} ${formatValue(values[i], format)}`).join(", ")}`;
}

export class Constants {
  readonly root = element("div", { class: "constants" });
  readonly #text = element("p", { class: "muted" });
  readonly #toggle: HTMLButtonElement;
  #unfolded = false;

  constructor(toggled: (shown: boolean) => void) {
    this.#toggle = button("", { class: "quiet edge" }, () => toggled(!this.#unfolded));
    this.root.append(this.#text, this.#toggle);
    setShown(this.root, false);
  }

  /** @param unfolded drawn as charts: then there is only the way back */
  show(folded: readonly string[], unfolded: boolean): void {
    this.#unfolded = unfolded;
    setShown(this.root, unfolded || folded.length > 0);
    setText(this.#text, folded.length === 0 ? "" : unbroken(`Constant: ${folded.join(" · ")}`));
    setText(this.#toggle, unfolded ? "Fold Constant Charts" : "Show Constant Charts");
  }
}

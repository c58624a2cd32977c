/** The room at both sides of plots that stand above each other, so that a step lies at one place in all of them. */
export class Gutters {
  #left = 44;
  #right = 12;

  /** @param grown a label needs more room: what has been drawn has to be drawn again */
  constructor(private readonly grown: () => void) {}

  get left(): number {
    return this.#left;
  }
  get right(): number {
    return this.#right;
  }
  /** Room for the longest label of a side: it never shrinks, so that plots do not move with their numbers. */
  need(side: "left" | "right", width: number): number {
    if (side === "left" && width > this.#left) {
      this.#left = width;
      this.grown();
    } else if (side === "right" && width > this.#right) {
      this.#right = width;
      this.grown();
    }
    return side === "left" ? this.#left : this.#right;
  }
}

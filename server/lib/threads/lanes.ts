/** A few lanes: those that are free, and who waits for one. */
import { Lane, type LaneOptions, type More } from "./lane.ts";

export class Lanes<Question extends { readonly seconds: number }, Answer> {
  readonly #all: Lane<Question, Answer>[] = [];
  readonly #free: Lane<Question, Answer>[] = [];
  readonly #waiting: ((lane: Lane<Question, Answer>) => void)[] = [];
  constructor(
    private readonly most: number,
    private readonly options: LaneOptions<Question, Answer>,
  ) {}

  async run(question: Question, more?: More): Promise<Answer> {
    const lane = await this.#take();
    try {
      return await lane.run(question, more);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(lane);
      else next(lane);
    }
  }

  #take(): Promise<Lane<Question, Answer>> {
    const free = this.#free.pop();
    if (free !== undefined) return Promise.resolve(free);
    if (this.#all.length >= this.most) return new Promise((resolve) => this.#waiting.push(resolve));
    const made = new Lane(this.options);
    this.#all.push(made);
    return Promise.resolve(made);
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((lane) => lane.close()));
  }
}

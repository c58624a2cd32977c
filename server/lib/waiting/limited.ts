/** Work of which only so many may go on at once. */
export class Limited {
  private going = 0;
  private readonly waiting: (() => void)[] = [];

  /** @param most that go on at once */
  constructor(private readonly most: number) {}

  /** The others wait, in the order in which they came. @throws what the work throws */
  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.going >= this.most) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.going += 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // Who waited longest takes the place.
      if (next === undefined) this.going -= 1;
      else next();
    }
  }
}

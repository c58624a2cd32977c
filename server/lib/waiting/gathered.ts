/** Questions that come one by one, asked together. */

interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** While some are asked, others wait and are asked together afterwards. Questions of one turn of the event loop go together. */
export class Gathered<Question, Answer> {
  private waiting: Waiting<Question, Answer>[] = [];
  private asking = false;

  /** @param ask one answer a question, in order; what it throws is thrown to all who asked */
  constructor(private readonly ask: (questions: readonly Question[]) => Promise<readonly Answer[]>) {}

  answer(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ question, resolve, reject });
      if (!this.asking) void this.askAll();
    });
  }

  private async askAll(): Promise<void> {
    this.asking = true;
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) {
      const now = this.waiting;
      this.waiting = [];
      try {
        const answers = await this.ask(now.map(({ question }) => question));
        now.forEach(({ resolve }, i) => resolve(answers[i]!));
      } catch (error) {
        for (const { reject } of now) reject(error);
      }
    }
    this.asking = false;
  }
}

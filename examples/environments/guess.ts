interface Task {
  readonly data: { readonly secret: number };
}

/** A secret number from 1 to 8: a guess is answered by `+` (higher) or `-` (lower). */
export default class Guess {
  private secret = 0;
  private guesses = 0;

  reset(task: Task): null {
    this.secret = task.data.secret;
    this.guesses = 0;
    return null;
  }

  step(text: string) {
    this.guesses += 1;
    const guess = Number(text);
    const components = { guesses: this.guesses };
    if (guess === this.secret) return { reward: 1, done: true, components };
    if (!(guess >= 1 && guess <= 8)) return { text: "?", components };
    return { text: guess < this.secret ? "+" : "-", components };
  }

  state() {
    return { secret: this.secret, guesses: this.guesses };
  }

  restore(state: { secret: number; guesses: number }): void {
    this.secret = state.secret;
    this.guesses = state.guesses;
  }
}

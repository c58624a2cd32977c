/** A parser for arithmetic, written out: model text is never evaluated as code. Values are exact fractions. */

export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}
export type Parsed =
  | { readonly ok: true; readonly value: Fraction; readonly numbers: readonly number[] }
  | { readonly ok: false; readonly reason: string };

const longest = 512;
const deepest = 64;

class Parser {
  private at = 0;
  private depth = 0;
  readonly numbers: number[] = [];
  constructor(private readonly text: string) {}

  parse(): Fraction {
    const value = this.sum();
    if (this.at < this.text.length)
      throw new SyntaxError(`unexpected "${this.text[this.at]}" at ${this.at + 1}`);
    return value;
  }

  private take(...wanted: string[]): string | undefined {
    const next = this.text[this.at];
    if (next === undefined || !wanted.includes(next)) return undefined;
    this.at += 1;
    return next;
  }

  private sum(): Fraction {
    let left = this.product();
    for (let sign = this.take("+", "-"); sign !== undefined; sign = this.take("+", "-")) {
      const right = this.product();
      const moved = right.over * left.under;
      left = {
        over: left.over * right.under + (sign === "+" ? moved : -moved),
        under: left.under * right.under,
      };
    }
    return left;
  }

  private product(): Fraction {
    let left = this.factor();
    for (let sign = this.take("*", "/"); sign !== undefined; sign = this.take("*", "/")) {
      const right = this.factor();
      if (sign === "/" && right.over === 0n) throw new SyntaxError("division by zero");
      left =
        sign === "*"
          ? { over: left.over * right.over, under: left.under * right.under }
          : { over: left.over * right.under, under: left.under * right.over };
    }
    return left;
  }

  private factor(): Fraction {
    if (this.take("(") !== undefined) {
      if (++this.depth > deepest) throw new SyntaxError("brackets are nested too deep");
      const inside = this.sum();
      if (this.take(")") === undefined) throw new SyntaxError("a bracket is not closed");
      this.depth -= 1;
      return inside;
    }
    const start = this.at;
    while (this.at < this.text.length && /[0-9]/.test(this.text[this.at]!)) this.at += 1;
    if (this.at === start)
      throw new SyntaxError(
        start < this.text.length
          ? `unexpected "${this.text[start]}" at ${start + 1}`
          : "the expression ends early",
      );
    const digits = this.text.slice(start, this.at);
    if (digits.length > 15) throw new SyntaxError("a number has too many digits");
    this.numbers.push(Number(digits));
    return { over: BigInt(digits), under: 1n };
  }
}

/** Sums, differences, products, quotients and brackets of whole numbers. `×`, `·`, `÷` and `−` are understood. */
export function parseExpression(text: string): Parsed {
  if (text.length > longest) return { ok: false, reason: `longer than ${longest} characters` };
  const plain = text.replace(/[×·]/g, "*").replace(/÷/g, "/").replace(/−/g, "-");
  // Dropping spaces must not join two numbers into one.
  if (/[0-9]\s+[0-9]/.test(plain))
    return { ok: false, reason: "two numbers without an operator between them" };
  const parser = new Parser(plain.replace(/\s+/g, ""));
  try {
    return { ok: true, value: parser.parse(), numbers: parser.numbers };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, reason: error.message };
    throw error;
  }
}

export const equals = ({ over, under }: Fraction, target: number): boolean =>
  Number.isInteger(target) && over === BigInt(target) * under;

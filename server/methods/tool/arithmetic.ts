/** Values of arithmetic expressions: numbers, + - * / % ^ (also **), brackets, and some functions and constants. */

const functions: Readonly<Record<string, (...of: readonly number[]) => number>> = {
  sqrt: (x = Number.NaN) => Math.sqrt(x),
  abs: (x = Number.NaN) => Math.abs(x),
  exp: (x = Number.NaN) => Math.exp(x),
  ln: (x = Number.NaN) => Math.log(x),
  log: (x = Number.NaN, base = 10) => (base === 10 ? Math.log10(x) : Math.log(x) / Math.log(base)),
  sin: (x = Number.NaN) => Math.sin(x),
  cos: (x = Number.NaN) => Math.cos(x),
  tan: (x = Number.NaN) => Math.tan(x),
  floor: (x = Number.NaN) => Math.floor(x),
  ceil: (x = Number.NaN) => Math.ceil(x),
  round: (x = Number.NaN) => Math.round(x),
  min: (...all) => Math.min(...all),
  max: (...all) => Math.max(...all),
};
const constants: Readonly<Record<string, number>> = { pi: Math.PI, e: Math.E };

/** What is wrong with an expression, in words for the policy. */
export class ExpressionError extends Error {}

const token = /\s*(?:(\d+(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+(?:[eE][+-]?\d+)?)|([A-Za-z]+)|(\*\*|[-+*/%^(),]))/y;

function tokensIn(text: string): string[] {
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  for (token.lastIndex = 0; token.lastIndex < end;) {
    const from = token.lastIndex;
    const found = token.exec(text);
    if (found === null) throw new ExpressionError(`"${text.slice(from).trim()[0]}" is not understood`);
    tokens.push(found[1]?.replaceAll(",", "") ?? found[2]?.toLowerCase() ?? found[3]!.replace("**", "^"));
  }
  return tokens;
}

/** Recursive descent, from what binds least. */
class Parser {
  private at = 0;
  private depth = 0;

  constructor(private readonly tokens: readonly string[]) {}

  all(): number {
    const value = this.sum();
    if (this.at < this.tokens.length)
      throw new ExpressionError(`"${this.tokens[this.at]}" is not expected there`);
    return value;
  }

  private takes(...wanted: readonly string[]): string | undefined {
    const next = this.tokens[this.at];
    if (next === undefined || !wanted.includes(next)) return undefined;
    this.at += 1;
    return next;
  }

  private sum(): number {
    let value = this.product();
    for (let sign = this.takes("+", "-"); sign !== undefined; sign = this.takes("+", "-"))
      value = sign === "+" ? value + this.product() : value - this.product();
    return value;
  }

  private product(): number {
    let value = this.signed();
    for (let sign = this.takes("*", "/", "%"); sign !== undefined; sign = this.takes("*", "/", "%")) {
      const right = this.signed();
      if (sign !== "*" && right === 0) throw new ExpressionError("it divides by zero");
      value = sign === "*" ? value * right : sign === "/" ? value / right : value % right;
    }
    return value;
  }

  /** A sign binds less than a power: −2² = −4. */
  private signed(): number {
    this.deeper();
    const sign = this.takes("+", "-");
    const value = sign === undefined ? this.power() : sign === "-" ? -this.signed() : this.signed();
    this.depth -= 1;
    return value;
  }

  private power(): number {
    const base = this.atom();
    return this.takes("^") === undefined ? base : base ** this.signed();
  }

  private atom(): number {
    if (this.takes("(") !== undefined) {
      const inner = this.sum();
      this.closes();
      return inner;
    }
    const next = this.tokens[this.at++];
    if (next === undefined) throw new ExpressionError("it ends too early");
    if (/^[\d.]/.test(next)) return Number(next);
    if (Object.hasOwn(constants, next)) return constants[next]!;
    if (!Object.hasOwn(functions, next)) throw new ExpressionError(`"${next}" is not known`);
    if (this.takes("(") === undefined) throw new ExpressionError(`"${next}" needs brackets`);
    const given = [this.sum()];
    while (this.takes(",") !== undefined) given.push(this.sum());
    this.closes();
    return functions[next]!(...given);
  }

  private closes(): void {
    if (this.takes(")") === undefined) throw new ExpressionError("a bracket is not closed");
  }

  private deeper(): void {
    if ((this.depth += 1) > 200) throw new ExpressionError("it is nested too deep");
  }
}

/** @throws ExpressionError */
export function valueOfExpression(text: string): number {
  const value = new Parser(tokensIn(text)).all();
  if (!Number.isFinite(value)) throw new ExpressionError("its value is not a finite number");
  return value;
}

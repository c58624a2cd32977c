/** Small programs over whole numbers: sums and products of variables. Two are equivalent where their polynomials are the same. */
import type { Random } from "../../../lib/random.ts";

export type Program =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "+" | "*"; readonly left: Program; readonly right: Program };

const variable = (name: string): Program => ({ kind: "variable", name });
const number = (value: number): Program => ({ kind: "number", value });
const both = (kind: "+" | "*", left: Program, right: Program): Program => ({ kind, left, right });

export function written(program: Program, inProduct = false): string {
  if (program.kind === "variable") return program.name;
  if (program.kind === "number") return String(program.value);
  const product = program.kind === "*";
  const text = `${written(program.left, product)}${program.kind}${written(program.right, true)}`;
  return inProduct ? `(${text})` : text;
}

/** A program as `written` writes it; null: it is none. */
export function parseProgram(text: string): Program | null {
  const tokens = [...text.replace(/\s/g, "")];
  let at = 0;
  const atom = (): Program | null => {
    const token = tokens[at++] ?? "";
    if (token === "(") {
      const inner = sum();
      return tokens[at++] === ")" ? inner : null;
    }
    if (/^\d$/.test(token)) return number(Number(token));
    return /^[a-z]$/.test(token) ? variable(token) : null;
  };
  const chain = (kind: "+" | "*", part: () => Program | null): Program | null => {
    let left = part();
    while (left !== null && tokens[at] === kind) {
      at += 1;
      const right = part();
      left = right && both(kind, left, right);
    }
    return left;
  };
  const sum = (): Program | null => chain("+", () => chain("*", atom));
  const found = sum();
  return at === tokens.length ? found : null;
}

/** Coefficients by monomial ("aab"), those of 0 left out. */
type Polynomial = ReadonlyMap<string, number>;

function polynomialOf(program: Program): Polynomial {
  if (program.kind === "variable") return new Map([[program.name, 1]]);
  if (program.kind === "number") return new Map(program.value === 0 ? [] : [["", program.value]]);
  const [left, right] = [polynomialOf(program.left), polynomialOf(program.right)];
  const result = new Map(program.kind === "+" ? left : []);
  const add = (monomial: string, by: number): void =>
    void result.set(monomial, (result.get(monomial) ?? 0) + by);
  if (program.kind === "+") for (const [monomial, by] of right) add(monomial, by);
  else
    for (const [one, by] of left)
      for (const [other, times] of right) add([...one, ...other].sort().join(""), by * times);
  return new Map([...result].filter(([, by]) => by !== 0));
}

export function areEquivalent(one: Program, other: Program): boolean {
  const [left, right] = [polynomialOf(one), polynomialOf(other)];
  return left.size === right.size && [...left].every(([monomial, by]) => right.get(monomial) === by);
}

const same = (one: Program, other: Program): boolean => written(one) === written(other);

/** What the rules make of a program at its root: each is the same polynomial. */
function rewrittenHere(program: Program): Program[] {
  if (program.kind === "variable" || program.kind === "number") return [];
  const { kind, left, right } = program;
  const made = [both(kind, right, left)];
  if (right.kind === kind) made.push(both(kind, both(kind, left, right.left), right.right));
  if (left.kind === kind) made.push(both(kind, left.left, both(kind, left.right, right)));
  if (kind === "*" && right.kind === "+")
    made.push(both("+", both("*", left, right.left), both("*", left, right.right)));
  if (kind === "+" && left.kind === "*" && right.kind === "*" && same(left.left, right.left))
    made.push(both("*", left.left, both("+", left.right, right.right)));
  if (kind === "+" && same(left, right)) made.push(both("*", number(2), left));
  if (kind === "*" && left.kind === "number" && left.value === 2) made.push(both("+", right, right));
  if (kind === "*" && left.kind === "number" && left.value === 1) made.push(right);
  if (kind === "+" && left.kind === "number" && left.value === 0) made.push(right);
  return made;
}

/** All that one use of a rule makes of a program, anywhere in it: different from it and from each other. */
export function rewritten(program: Program): readonly Program[] {
  const all = new Map<string, Program>();
  const visit = (part: Program, around: (part: Program) => Program): void => {
    for (const made of rewrittenHere(part)) {
      const whole = around(made);
      all.set(written(whole), whole);
    }
    if (part.kind === "variable" || part.kind === "number") return;
    const { kind, left, right } = part;
    visit(left, (inner) => around(both(kind, inner, right)));
    visit(right, (inner) => around(both(kind, left, inner)));
  };
  visit(program, (whole) => whole);
  all.delete(written(program));
  return [...all.values()];
}

/** A random program with so many operators. */
export function randomProgram(operators: number, random: Random): Program {
  if (operators === 0) return random.integer(5) === 0 ? number(2) : variable("abc"[random.integer(3)]!);
  const left = random.integer(operators);
  const [one, other] = [randomProgram(left, random), randomProgram(operators - 1 - left, random)];
  return both(random.integer(2) === 0 ? "+" : "*", one, other);
}

/** The program with one of its variables, numbers or operators changed. */
export function changed(program: Program, random: Random): Program {
  if (program.kind === "variable") return variable("abc"[random.integer(3)]!);
  if (program.kind === "number") return number(random.integer(4));
  const { kind, left, right } = program;
  switch (random.integer(3)) {
    case 0:
      return both(kind === "+" ? "*" : "+", left, right);
    case 1:
      return both(kind, changed(left, random), right);
    default:
      return both(kind, left, changed(right, random));
  }
}

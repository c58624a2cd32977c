/** The flat expressions over a set of numbers: what a countdown task can be solved by, and the exact values they have. */
import type { Random } from "../../lib/random.ts";

export const operators = ["+", "-", "*", "/"] as const;
export type Operator = (typeof operators)[number];

/**
 * Value of `numbers[0] operators[0] numbers[1] …` under ordinary precedence, left to right; NaN where a division
 * leaves a remainder, so every value is a whole number and every comparison exact.
 */
export function valueOf(numbers: readonly number[], signs: readonly Operator[]): number {
  let sum = 0;
  let product = numbers[0] ?? Number.NaN;
  let sign = 1;
  for (let i = 0; i < signs.length; i++) {
    const next = numbers[i + 1]!;
    switch (signs[i]!) {
      case "*":
        product *= next;
        break;
      case "/":
        if (next === 0 || product % next !== 0) return Number.NaN;
        product /= next;
        break;
      case "+":
      case "-":
        sum += sign * product;
        sign = signs[i] === "+" ? 1 : -1;
        product = next;
    }
  }
  return sum + sign * product;
}

export const write = (numbers: readonly number[], signs: readonly Operator[]): string =>
  numbers.map((number, i) => (i === 0 ? String(number) : `${signs[i - 1]}${number}`)).join("");

function permutations(count: number): number[][] {
  if (count === 0) return [[]];
  return permutations(count - 1).flatMap((rest) =>
    Array.from({ length: count }, (_, at) => [...rest.slice(0, at), count - 1, ...rest.slice(at)]),
  );
}

function signings(places: number, allowed: readonly Operator[]): Operator[][] {
  if (places === 0) return [[]];
  return signings(places - 1, allowed).flatMap((rest) => allowed.map((sign) => [...rest, sign]));
}

const orders = new Map<number, number[][]>();
const signs = new Map<string, Operator[][]>();
function remembered<K, V>(store: Map<K, V>, key: K, make: () => V): V {
  let value = store.get(key);
  if (value === undefined) store.set(key, (value = make()));
  return value;
}

/** Up to this many numbers every expression is tried; beyond, as many random ones as four numbers have. */
const exhaustive = 4;
const samples = 2_000;

/** Calls `visit` with each expression (all of them up to four numbers, else a random sample) and its value. */
export function eachExpression(
  numbers: readonly number[],
  allowed: readonly Operator[],
  random: Random,
  visit: (value: number, order: readonly number[], signs: readonly Operator[]) => void,
): void {
  const count = numbers.length;
  if (count <= exhaustive) {
    const signings_ = remembered(signs, `${count}${allowed.join("")}`, () => signings(count - 1, allowed));
    for (const order of remembered(orders, count, () => permutations(count))) {
      const arranged = order.map((i) => numbers[i]!);
      for (const signing of signings_) visit(valueOf(arranged, signing), arranged, signing);
    }
    return;
  }
  for (let i = 0; i < samples; i++) {
    const arranged = shuffled(numbers, random);
    const signing = Array.from({ length: count - 1 }, () => allowed[random.integer(allowed.length)]!);
    visit(valueOf(arranged, signing), arranged, signing);
  }
}

export function shuffled<T>(values: readonly T[], random: Random): T[] {
  const result = [...values];
  for (let i = result.length - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [result[i], result[j]] = [result[j]!, result[i]!];
  }
  return result;
}

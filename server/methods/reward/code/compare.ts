/**
 * Whether what a program printed, or returned, is what was expected: as verl's `prime_code` compares, but word by word, where
 * verl takes a line for one number, and in order, where verl also takes the words as a set.
 */
import { isObject, type Json } from "../../../../shared/lib/json.ts";

const integer = /^[+-]?\d+$/;

/** As numpy's `allclose` has it: |a − b| ≤ 1e-8 + 1e-5·|b|. */
const close = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-8 + 1e-5 * Math.abs(b);

/** Of any size; −0 is 0. */
const whole = (word: string): bigint => BigInt(word.replace(/^\+/, ""));

/** A word is right as it is, or as a number that is near: two whole numbers must be equal. */
function sameWord(word: string, expected: string): boolean {
  if (word === expected) return true;
  if (integer.test(word) && integer.test(expected)) return whole(word) === whole(expected);
  const [a, b] = [Number(word), Number(expected)];
  return Number.isFinite(a) && Number.isFinite(b) && close(a, b);
}

const linesOf = (text: string): string[][] =>
  text
    .split("\n")
    .map((line) => line.split(/\s+/).filter((word) => word !== ""))
    .filter((words) => words.length > 0);

/** White space at the ends of lines and empty lines do not count. */
export function samePrinted(printed: string, expected: string): boolean {
  if (printed.trim() === expected.trim()) return true;
  const [lines, wanted] = [linesOf(printed), linesOf(expected)];
  return (
    lines.length === wanted.length &&
    lines.every(
      (words, k) =>
        words.length === wanted[k]!.length && words.every((word, at) => sameWord(word, wanted[k]![at]!)),
    )
  );
}

const sameValue = (value: Json, expected: Json): boolean => {
  if (typeof value === "number" && typeof expected === "number")
    return (
      value === expected ||
      (!(Number.isInteger(value) && Number.isInteger(expected)) && close(value, expected))
    );
  if (Array.isArray(value) || Array.isArray(expected))
    return (
      Array.isArray(value) &&
      Array.isArray(expected) &&
      value.length === expected.length &&
      value.every((one, k) => sameValue(one, expected[k]!))
    );
  if (isObject(value) && isObject(expected)) {
    const keys = Object.keys(value);
    return (
      keys.length === Object.keys(expected).length &&
      keys.every((key) => Object.hasOwn(expected, key) && sameValue(value[key]!, expected[key]!))
    );
  }
  return value === expected;
};

/** APPS writes what is expected as a list of one, too. */
export const sameReturned = (value: Json, expected: Json): boolean =>
  sameValue(value, expected) ||
  (Array.isArray(expected) && expected.length === 1 && sameValue(value, expected[0]!));

/**
 * Whether two answers in LaTeX are the same: as math-verify decides, with another engine. Numbers are equal where they are
 * the same, or to six decimals where one is written as a decimal; expressions are where they agree at some points.
 */
import { ComputeEngine, isNumber, type Expression } from "@cortex-js/compute-engine";
import { withoutPlainUnit } from "./units.ts";

let engine: ComputeEngine | undefined;
/** It takes half a second to make. */
const ce = (): ComputeEngine => (engine ??= new ComputeEngine());

const units =
  /\\(?:text|mathrm|mbox|textrm|operatorname)\s*\{\s*(?:[a-zA-Z. ]*\s)?(?:[a-zA-Z°/. ^0-9{}-]+)\}(?:\s*\^\s*(?:\{\s*-?\d\s*\}|\d))?\s*$/;

/** What stands for a row break while an answer is read: its two backslashes begin no other command. */
const rowBreak = "\u0001";

/** An answer without what says nothing of its value: spaces, dollars, units, thousands' commas. */
export function normalised(latex: string): string {
  let text = latex
    .trim()
    .replace(/^\$+|\$+$|^\\[([]|\\[)\]]$/g, "")
    .replace(/\\\\(?:\s*\[\s*-?[\d.]+\s*[a-z]{2}\s*\])?/g, rowBreak)
    .replace(/(?<=\d),\\!(?=\d)/g, ",")
    .replace(/\\[!,;:>]|\\q?quad|~/g, " ")
    .replace(/\\ /g, " ")
    .replace(/\\[dtc]frac/g, "\\frac")
    .replace(/\\left\b|\\right\b|\\displaystyle|\\limits/g, "")
    .replace(/\\(?:big|Big|bigg|Bigg)[lr]?\b/g, "")
    .replace(/\{,\}/g, ",")
    .replace(/\\\$|\\pounds|£|€/g, "")
    .replace(/(?<![\\])%/g, "\\%")
    .replace(/\^\s*\{?\s*\\circ\s*\}?|°|\\degree/g, "")
    .replace(/−/g, "-")
    .replace(/\\cdot|\\times/g, "\\cdot ")
    .replace(/\\text\s*\{\s*(and|or)\s*\}|\b(and|or)\b/g, ",")
    .replace(/[.,;:]\s*$/, "")
    .trim();
  if (units.test(text) && units.exec(text)!.index > 0) text = text.replace(units, "").trim();
  text = text.replace(/^\\(?:text|mathrm|textbf|mathbf)\s*\{([^{}]*)\}$/, "$1");
  text = withoutPlainUnit(text);
  if (/^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?:\s*\\%)?$/.test(text)) text = text.replaceAll(",", "");
  return text.replaceAll(rowBreak, "\\\\");
}

type Form =
  | {
      readonly kind: "scalar";
      readonly expression: Expression;
      readonly isDecimal: boolean;
      readonly isPercent: boolean;
    }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "set"; readonly parts: readonly Form[] }
  | { readonly kind: "tuple"; readonly parts: readonly Form[]; readonly ends: string }
  | { readonly kind: "union"; readonly parts: readonly Form[] }
  | { readonly kind: "matrix"; readonly rows: readonly (readonly Form[])[] }
  | { readonly kind: "relation"; readonly operator: string; readonly left: Form; readonly right: Form };

/** Parts of a text at a separator that no bracket encloses. */
function split(text: string, separator: RegExp): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const rest = text.slice(at);
    const match = depth === 0 ? separator.exec(rest) : null;
    if (match?.index === 0) {
      parts.push(text.slice(from, at));
      at += match[0].length - 1;
      from = at + 1;
      continue;
    }
    if (/^\\begin/.test(rest)) depth++;
    if (/^\\end/.test(rest)) depth--;
    if (text[at] === "\\" && !/^\\[{}]/.test(rest)) continue;
    if (/[{([]/.test(text[at]!)) depth++;
    else if (/[})\]]/.test(text[at]!)) depth--;
  }
  parts.push(text.slice(from));
  return parts.map((part) => part.trim());
}

/** The parts between the bracket that a text begins with and its own end, where that is the text's; undefined: it is not. */
function enclosed(text: string): string[] | undefined {
  if (!/^[([][\s\S]*[)\]]$/.test(text)) return undefined;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (/[([]/.test(text[at]!)) depth++;
    else if (/[)\]]/.test(text[at]!) && --depth === 0 && at < text.length - 1) return undefined;
  }
  return depth === 0 ? split(text.slice(1, -1), /^,/) : undefined;
}

const matrix = /^\\begin\s*\{([pbvBV]?matrix|array)\}(?:\s*\{[clr|]*\})?([\s\S]*)\\end\s*\{\1\}$/;
const relations: readonly (readonly [RegExp, string])[] = [
  [/^(?:\\leq?slant|\\leq?(?![a-z])|≤|<=)/, "≤"],
  [/^(?:\\geq?slant|\\geq?(?![a-z])|≥|>=)/, "≥"],
  [/^(?:\\neq?(?![a-z])|≠)/, "≠"],
  [/^(?:<|\\lt(?![a-z]))/, "<"],
  [/^(?:>|\\gt(?![a-z]))/, ">"],
  [/^=/, "="],
];

function formOf(text: string): Form {
  const table = matrix.exec(text);
  if (table !== null) {
    const rows = split(table[2]!.replace(/\\\\\s*$/, ""), /^\\\\/);
    return { kind: "matrix", rows: rows.map((row) => split(row, /^&/).map(formOf)) };
  }
  const members = split(text, /^(?:\\in(?![a-z])|∈)/);
  if (members.length === 2 && /^[a-zA-Z]$/.test(members[0]!)) return formOf(members[1]!);
  const union = split(text, /^(?:\\cup(?![a-z])|∪)/);
  if (union.length > 1) return { kind: "union", parts: union.map(formOf) };
  const set = /^\\\{([\s\S]*)\\\}$/.exec(text);
  if (set !== null && split(text, /^,/).length === 1)
    return { kind: "set", parts: set[1]!.trim() === "" ? [] : split(set[1]!, /^,/).map(formOf) };
  if (/^(?:\\emptyset|\\varnothing|∅)$/.test(text)) return { kind: "set", parts: [] };
  const parts = split(text, /^,/);
  if (parts.length > 1) return { kind: "set", parts: parts.map((part) => formOf(normalised(part))) };
  const inner = enclosed(text);
  if (inner?.length === 1 && matrix.test(inner[0]!)) return formOf(inner[0]!);
  if (inner !== undefined && inner.length > 1)
    return { kind: "tuple", parts: inner.map(formOf), ends: text[0]! + text.at(-1)! };
  for (const [sign, operator] of relations) {
    const sides = split(text, sign);
    if (sides.length === 2 && sides.every((side) => side !== ""))
      return { kind: "relation", operator, left: formOf(sides[0]!), right: formOf(sides[1]!) };
  }
  if (/\\pm/.test(text))
    return {
      kind: "set",
      parts: ["+", "-"].map((sign) => formOf(text.replace(/\\pm/g, sign).replace(/^\+/, ""))),
    };
  return scalarOf(text);
}

function scalarOf(text: string): Form {
  // Digits, then a fraction: a mixed number.
  const mixed =
    /^(-?)(\d+)\s*\\frac\s*\{?(\d+)\}?\s*\{?(\d+)\}?$/.exec(text) ??
    /^(-?)(\d+)\s+(\d+)\s*\/\s*(\d+)$/.exec(text);
  const own = mixed === null ? text : `${mixed[1]!}(${mixed[2]!}+\\frac{${mixed[3]!}}{${mixed[4]!}})`;
  const words = /^[A-Za-z][A-Za-z ]+$/.test(text) && text.length > 1;
  const expression = ce().parse(own);
  if (words || !expression.isValid || text === "") return { kind: "text", text: text.toLowerCase() };
  return {
    kind: "scalar",
    expression,
    isDecimal: /\d\.\d|(?<!\d)\.\d/.test(text),
    isPercent: /\\%/.test(text),
  };
}

interface Point {
  readonly re: number;
  readonly im: number;
}
/** Where expressions are compared: no whole numbers, no usual constants. */
const points = [0.4137, 1.2873, 2.7411, -0.8329];

function at(expression: Expression, unknowns: readonly string[], k: number): Point | undefined {
  const values = Object.fromEntries(
    unknowns.map((name, j) => [name, points[(k + j) % points.length]! + 0.1 * j]),
  );
  const { re, im } = expression.subs(values).N();
  return Number.isNaN(re) ? undefined : { re, im: Number.isNaN(im) ? 0 : im };
}

const near = (a: number, b: number, tolerance: number): boolean =>
  a === b ||
  (Number.isFinite(a) &&
    Number.isFinite(b) &&
    Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(a), Math.abs(b)));

/** Of what is made of whole numbers alone. */
function exact({ expression, isDecimal }: Form & { kind: "scalar" }): Expression | undefined {
  if (isDecimal) return undefined;
  const value = expression.evaluate();
  return value.isRational === true && isNumber(value) ? value : undefined;
}

function sameScalar(a: Form & { kind: "scalar" }, b: Form & { kind: "scalar" }, factor = 1): boolean {
  if (factor === 1 && a.expression.isSame(b.expression)) return true;
  const unknowns = [...new Set([...a.expression.unknowns, ...b.expression.unknowns])].sort();
  // Whole numbers and fractions of any size are compared as what they are.
  const [x, y] = factor === 1 && unknowns.length === 0 ? [exact(a), exact(b)] : [];
  if (x !== undefined && y !== undefined) return x.isSame(y);
  const isRounded = a.isDecimal || b.isDecimal;
  let compared = 0;
  for (let k = 0; k < (unknowns.length === 0 ? 1 : points.length); k++) {
    const [x, y] = [at(a.expression, unknowns, k), at(b.expression, unknowns, k)];
    if (x === undefined || y === undefined) {
      if ((x === undefined) !== (y === undefined)) return false;
      continue;
    }
    compared++;
    const isNear = (p: number, q: number): boolean =>
      near(p, q, 1e-10) || (isRounded && unknowns.length === 0 && Math.abs(p - q) < 5e-7);
    if (!isNear(x.re, factor * y.re) || !isNear(x.im, factor * y.im)) return false;
  }
  return compared > 0;
}

/** Each of one has its own of the other. */
function matched(a: readonly Form[], b: readonly Form[]): boolean {
  const left = [...b];
  return (
    a.length === b.length &&
    a.every((one) => {
      const found = left.findIndex((other) => sameForm(one, other));
      if (found < 0) return false;
      left.splice(found, 1);
      return true;
    })
  );
}

const turned: Readonly<Record<string, string>> = {
  "<": ">",
  ">": "<",
  "≤": "≥",
  "≥": "≤",
  "=": "=",
  "≠": "≠",
};

/** a.left − a.right is a multiple of b.left − b.right: a positive one where the signs point alike. */
function sameRelation(a: Form & { kind: "relation" }, b: Form & { kind: "relation" }): boolean {
  const [p, q] = [difference(a), difference(b)];
  if (p === undefined || q === undefined)
    return a.operator === b.operator && sameForm(a.left, b.left) && sameForm(a.right, b.right);
  const unknowns = [...new Set([...p.unknowns, ...q.unknowns])].sort();
  let ratio: number | undefined;
  for (let k = 0; k < points.length; k++) {
    const [x, y] = [at(p, unknowns, k)?.re, at(q, unknowns, k)?.re];
    if (x === undefined || y === undefined || y === 0) return false;
    ratio ??= x / y;
    if (!near(x / y, ratio, 1e-8)) return false;
  }
  if (ratio === undefined || ratio === 0) return false;
  return (
    a.operator === (ratio > 0 ? b.operator : turned[b.operator]) || (a.operator === "=" && b.operator === "=")
  );
}

function difference({ left, right }: Form & { kind: "relation" }): Expression | undefined {
  if (left.kind !== "scalar" || right.kind !== "scalar") return undefined;
  return ce().expr(["Subtract", left.expression.json, right.expression.json]);
}

function sameForm(a: Form, b: Form): boolean {
  if (a.kind === "scalar" && b.kind === "scalar")
    return sameScalar(a, b) || (a.isPercent !== b.isPercent && sameScalar(a, b, a.isPercent ? 0.01 : 100));
  if (a.kind === "text" || b.kind === "text")
    return a.kind === "text" && b.kind === "text" && a.text === b.text;
  if (a.kind === "relation" && b.kind === "relation") return sameRelation(a, b);
  // "x = 5" for 5.
  if (a.kind === "relation" && a.operator === "=") return sameForm(a.right, b);
  if (b.kind === "relation" && b.operator === "=") return sameForm(a, b.right);
  if (a.kind === "matrix" && b.kind === "matrix")
    return (
      a.rows.length === b.rows.length &&
      a.rows.every(
        (row, k) => row.length === b.rows[k]!.length && row.every((one, j) => sameForm(one, b.rows[k]![j]!)),
      )
    );
  if (a.kind === "tuple" && b.kind === "tuple")
    return (
      a.ends === b.ends &&
      a.parts.length === b.parts.length &&
      a.parts.every((one, k) => sameForm(one, b.parts[k]!))
    );
  if (a.kind === "union" && b.kind === "union") return matched(a.parts, b.parts);
  if (a.kind === "set" && b.kind === "set") return matched(a.parts, b.parts);
  if (a.kind === "set" && a.parts.length === 1) return sameForm(a.parts[0]!, b);
  if (b.kind === "set" && b.parts.length === 1) return sameForm(a, b.parts[0]!);
  return false;
}

/** "100,200": two numbers of a list or one with a thousands' comma, which only the gold answer's writer knows. */
const mayBeList = /^\s*\$?\s*-?\d{3}(?:,[1-9]\d{2})+\s*\$?\s*$/;

/**
 * @param gold, answer LaTeX, without or with dollars. A gold answer that may be a list is the same as that list and as what is
 * written alike, not as the one number.
 */
export function sameAnswer(gold: string, answer: string): boolean {
  if (mayBeList.test(gold) && !mayBeList.test(answer))
    return sameForm(formOf(gold.replace(/[$\s]/g, "")), formOf(normalised(answer)));
  const [a, b] = [normalised(gold), normalised(answer)];
  if (a.replaceAll(" ", "") === b.replaceAll(" ", "")) return a !== "";
  return sameForm(formOf(a), formOf(b));
}

/** Answers in LaTeX in pairs, half of them the same in another form, half of them wrong in the way that answers are. */
import { randomStream, type Random } from "../../server/lib/random.ts";

export interface Pair {
  readonly kind: string;
  readonly gold: string;
  readonly answer: string;
  /** As it was made: what a person would say. */
  readonly same: boolean;
}

type Maker = (random: Random, same: boolean) => readonly [gold: string, answer: string];

const whole = (random: Random, from: number, to: number): number => from + random.integer(to - from + 1);
const pick = <T>(random: Random, list: readonly T[]): T => list[random.integer(list.length)]!;
const nonzero = (random: Random, most: number): number =>
  whole(random, 1, most) * (random.integer(2) === 0 ? 1 : -1);
const signed = (value: number): string => (value < 0 ? `${value}` : `+${value}`);
const term = (factor: number, of: string): string =>
  factor === 1 ? of : factor === -1 ? `-${of}` : `${factor}${of}`;
const more = (factor: number, of: string): string => (factor < 0 ? term(factor, of) : `+${term(factor, of)}`);

const fraction: Maker = (random, same) => {
  const [p, q, k] = [nonzero(random, 30), whole(random, 2, 20), whole(random, 2, 5)];
  const wrong = same ? 0 : pick(random, [1, -1, q]);
  const form = pick(random, [
    (n: number, d: number) => `\\dfrac{${n}}{${d}}`,
    (n: number, d: number) => `${n}/${d}`,
    (n: number, d: number) => `-\\frac{${-n}}{${d}}`,
    (n: number, d: number) => `\\frac{${n * k}}{${d * k}}`,
  ]);
  return [`\\frac{${p}}{${q}}`, form(p + wrong, q)];
};
const decimal: Maker = (random, same) => {
  const [p, q] = [nonzero(random, 40), pick(random, [2, 4, 5, 8, 10, 16, 20, 25])];
  const exact = p / q;
  return [`\\frac{${p}}{${q}}`, `${same ? exact : exact + pick(random, [0.5, 0.01, -1])}`];
};
const rounded: Maker = (random, same) => {
  const [p, q] = [whole(random, 1, 20), pick(random, [3, 7, 9, 11, 13])];
  const exact = (p % q === 0 ? p + 1 : p) / q;
  return [
    `\\frac{${p % q === 0 ? p + 1 : p}}{${q}}`,
    exact.toFixed(same ? pick(random, [6, 8]) : pick(random, [1, 2])),
  ];
};
const mixed: Maker = (random, same) => {
  const q = whole(random, 2, 9);
  const [n, p] = [whole(random, 1, 9), whole(random, 1, q - 1)];
  return [`${n}\\frac{${p}}{${q}}`, `\\frac{${n * q + p + (same ? 0 : 1)}}{${q}}`];
};
const thousands: Maker = (random, same) => {
  const value = whole(random, 1000, 9_999_999);
  const text = value.toLocaleString("en-US");
  return [
    `${value}`,
    same
      ? pick(random, [text, text.replaceAll(",", "{,}"), text.replaceAll(",", ",\\!")])
      : (value + 1).toLocaleString("en-US"),
  ];
};
const root: Maker = (random, same) => {
  const [a, b] = [whole(random, 2, 9), pick(random, [2, 3, 5, 6, 7, 10])];
  const under = a * a * b;
  return [
    `${a}\\sqrt{${b}}`,
    same
      ? pick(random, [`\\sqrt{${under}}`, `\\sqrt{${b}}\\cdot ${a}`, `\\sqrt{${b}}*${a}`])
      : `\\sqrt{${under + 1}}`,
  ];
};
const percent: Maker = (random, same) => {
  const value = whole(random, 1, 99);
  return [
    `${value}\\%`,
    same
      ? pick(random, [`${value}`, `${value / 100}`, `${value}%`])
      : pick(random, [`${value + 1}`, `${value / 10}`]),
  ];
};
const unit: Maker = (random, same) => {
  const value = whole(random, 2, 500);
  const other = same ? value : value + whole(random, 1, 9);
  const name = pick(random, [
    "\\text{ cm}",
    " \\text{ meters}",
    "\\mathrm{~kg}",
    "\\text{ cm}^2",
    " \\text{ hours}",
    "^\\circ",
    " \\text{ square units}",
  ]);
  return [`${value}`, `${other}${name}`];
};
const money: Maker = (random, same) => {
  const value = (whole(random, 100, 9999) / 100).toFixed(2);
  return [value, `\\$${same ? value : (Number(value) + 1).toFixed(2)}`];
};
const set: Maker = (random, same) => {
  const list = [...new Set(Array.from({ length: whole(random, 2, 4) }, () => nonzero(random, 20)))];
  const other = same ? [...list].reverse() : [...list.slice(1), list[0]! + 21];
  const written = pick(random, [
    (xs: number[]) => `\\{${xs.join(", ")}\\}`,
    (xs: number[]) => `\\left\\{${xs.join(",")}\\right\\}`,
  ]);
  return [`\\{${list.join(", ")}\\}`, written(other)];
};
const list: Maker = (random, same) => {
  const [a, b] = [nonzero(random, 20), nonzero(random, 20)];
  const other = same ? `${b}, ${a}` : `${b}, ${a + 41}`;
  return [`${a}, ${b}`, pick(random, [other, `${other.replace(", ", " \\text{ and } ")}`])];
};
const interval: Maker = (random, same) => {
  const a = whole(random, -20, 10);
  const b = a + whole(random, 1, 15);
  const [open, close] = [pick(random, ["(", "["]), pick(random, [")", "]"])];
  const gold = `${open}${a}, ${b}${close}`;
  if (same)
    return [
      gold,
      pick(random, [`\\left${open}${a},${b}\\right${close}`, `${open}${2 * a}/2,${b}.0${close}`]),
    ];
  return [
    gold,
    pick(random, [`${open}${a},${b + 1}${close}`, `${open === "(" ? "[" : "("}${a},${b}${close}`]),
  ];
};
const union: Maker = (random, same) => {
  const a = whole(random, -20, 0);
  const b = a + whole(random, 1, 20);
  const gold = `(-\\infty, ${a}) \\cup (${b}, \\infty)`;
  return [
    gold,
    same
      ? `(${b},\\infty)\\cup(-\\infty,${a})`
      : pick(random, [`(-\\infty,${a}]\\cup(${b},\\infty)`, `(-\\infty,${b})\\cup(${a},\\infty)`]),
  ];
};
const point: Maker = (random, same) => {
  const [a, b] = [nonzero(random, 20), nonzero(random, 20)];
  return [
    `(${a}, ${b})`,
    same ? `\\left(${a}, \\frac{${2 * b}}{2}\\right)` : `(${b === a ? b + 1 : b}, ${a})`,
  ];
};
const solution: Maker = (random, same) => {
  const value = nonzero(random, 50);
  return [`${value}`, `${pick(random, ["x", "n", "k"])} = ${same ? value : -value}`];
};
const line: Maker = (random, same) => {
  const [m, c] = [nonzero(random, 9), nonzero(random, 9)];
  const other = same ? c : c + 1;
  return [
    `y = ${term(m, "x")}${signed(c)}`,
    pick(random, [
      `y=${other}${more(m, "x")}`,
      `${term(m, "x")}-y${signed(other)}=0`,
      `2y = ${term(2 * m, "x")}${signed(2 * other)}`,
    ]),
  ];
};
const inequality: Maker = (random, same) => {
  const value = nonzero(random, 30);
  const [sign, turned] = pick(random, [
    ["<", ">"],
    [">", "<"],
    ["\\le", "\\ge"],
    ["\\geq", "\\leq"],
  ] as const);
  const gold = `x ${sign} ${value}`;
  return [
    gold,
    same ? pick(random, [`${value} ${turned} x`, `2x ${sign} ${2 * value}`]) : `x ${turned} ${value}`,
  ];
};
const polynomial: Maker = (random, same) => {
  const [a, b] = [nonzero(random, 9), nonzero(random, 9)];
  const [sum, product] = [a + b, a * b + (same ? 0 : 1)];
  const middle = sum === 0 ? "" : more(sum, "x");
  return [
    `(x${signed(a)})(x${signed(b)})`,
    pick(random, [`x^2${middle}${signed(product)}`, `x^{2}${signed(product)}${middle}`]),
  ];
};
const rational: Maker = (random, same) => {
  const [a, b] = [nonzero(random, 9), nonzero(random, 9)];
  return [
    `\\frac{x${signed(a)}}{x${signed(b)}}`,
    same ? `\\frac{${a}+x}{${b}+x}` : `\\frac{x${signed(b)}}{x${signed(a === b ? a + 1 : a)}}`,
  ];
};
const trigonometric: Maker = (random, same) => {
  const k = whole(random, 2, 5);
  return pick(random, [
    [`\\sin^2 x + \\cos^2 x + ${k}`, same ? `${k + 1}` : `${k}`],
    [`\\frac{\\pi}{${k}}`, same ? `\\pi/${k}` : `${k}\\pi`],
    [`\\sin(2x)`, same ? "2\\sin(x)\\cos(x)" : "\\sin(x)\\cos(x)"],
    [`\\tan{x}`, same ? "\\frac{\\sin x}{\\cos x}" : "\\frac{\\cos x}{\\sin x}"],
  ] as const);
};
const complex: Maker = (random, same) => {
  const [a, b] = [nonzero(random, 9), nonzero(random, 9)];
  return [`${a}${more(b, "i")}`, `${term(same ? b : -b, "i")}${signed(a)}`];
};
const power: Maker = (random, same) => {
  const [base, exponent] = [whole(random, 2, 9), whole(random, 3, 30)];
  const value = BigInt(base) ** BigInt(exponent);
  return [`${base}^{${exponent}}`, `${same ? value : value + 1n}`];
};
const logarithm: Maker = (random, same) => {
  const [base, exponent] = [whole(random, 2, 5), whole(random, 2, 5)];
  return [`${exponent}`, `\\log_{${base}} ${base ** exponent * (same ? 1 : base)}`];
};
const matrix: Maker = (random, same) => {
  const cells = Array.from({ length: 4 }, () => nonzero(random, 9));
  const other = [...cells.slice(0, 3), same ? cells[3]! : cells[3]! + 1];
  const of = (name: string, [a, b, c, d]: readonly (number | string)[]): string =>
    `\\begin{${name}} ${a} & ${b} \\\\ ${c} & ${d} \\end{${name}}`;
  return [
    of("pmatrix", cells),
    of(pick(random, ["pmatrix", "bmatrix"]), [`\\frac{${2 * other[0]!}}{2}`, ...other.slice(1)]),
  ];
};
const vector: Maker = (random, same) => {
  const cells = Array.from({ length: whole(random, 2, 4) }, () => nonzero(random, 20));
  const column = (list: readonly number[]): string =>
    `\\begin{pmatrix} ${list.join(" \\\\ ")} \\end{pmatrix}`;
  if (same) return [column(cells), column(cells)];
  const [first, ...rest] = cells;
  // Its differences, its sum and its order are those of other vectors.
  return [
    column(cells),
    pick(random, [
      column([first! + 1, ...rest.map((one) => one - 1)]),
      column([...rest, first! + 41]),
      column([cells.reduce((sum, one) => sum + one, 0)]),
      `${cells.reduce((sum, one) => sum + one, 0)}`,
    ]),
  ];
};
const letters: Maker = (random, same) => {
  const value = whole(random, 2, 99);
  const name = pick(random, ["a", "k", "n", "x", "ab", "abc", "xy"]);
  return same
    ? [
        `${value}${name}`,
        pick(random, [`${value}\\cdot ${name}`, `${value}*${name}`, `${2 * value}${name}/2`]),
      ]
    : [`${value}${name}`, pick(random, [`${value}`, `${value + 1}${name}`, `${value}${name}c`])];
};
const plainUnit: Maker = (random, same) => {
  const value = whole(random, 2, 500);
  return [
    `${value}`,
    `${same ? value : value + 1} ${pick(random, ["cm", "clips", "hours", "dollars", "mph", "oranges"])}`,
  ];
};
const named: Maker = (random, same) => {
  const [a, b] = [nonzero(random, 20), nonzero(random, 20)];
  return [`(${a}, ${b})`, `(x, y) = (${a}, ${same ? b : b + 1})`];
};
const words: Maker = (random, same) => {
  const list = ["Monday", "Tuesday", "even", "odd", "ellipse", "parabola"];
  const word = pick(random, list);
  return [
    `\\text{${word}}`,
    same
      ? pick(random, [word, `\\text{${word.toLowerCase()}}`, `\\textbf{${word}}`])
      : pick(
          random,
          list.filter((one) => one !== word),
        ),
  ];
};

const makers = {
  fraction,
  decimal,
  rounded,
  mixed,
  thousands,
  root,
  percent,
  unit,
  money,
  set,
  list,
  interval,
  union,
  point,
  solution,
  line,
  inequality,
  polynomial,
  rational,
  trigonometric,
  complex,
  power,
  logarithm,
  matrix,
  vector,
  letters,
  plainUnit,
  named,
  words,
};

/** The same text as another would write it: with and without blanks around row breaks, cells, commas and signs. */
function respaced(random: Random, latex: string): string {
  const around = (sign: string): string => pick(random, [sign, ` ${sign} `, `${sign} `, ` ${sign}`]);
  return latex
    .replace(/ ?(\\\\|&) ?/g, (_, sign: string) => around(sign))
    .replace(/, /g, () => pick(random, [",", ", ", ",\\,", ",\\ "]))
    .replace(/(?<=[\w})]) ?([+=<>]) ?(?=[\w\\(])/g, (_, sign: string) => around(sign))
    .replace(/(\\begin\{\w+\}) | (?=\\end\{)/g, (blank, begin?: string) =>
      random.integer(2) === 0 ? blank : (begin ?? ""),
    );
}

/** Pairs of all kinds in turn, each way round and spaced as it comes. */
export function pairsOf(count: number, seed = 1): readonly Pair[] {
  const random = randomStream(seed, "maths");
  const kinds = Object.entries(makers);
  return Array.from({ length: count }, (_, at) => {
    const [kind, make] = kinds[at % kinds.length]!;
    const same = Math.floor(at / kinds.length) % 2 === 0;
    const made = make(random, same).map((latex) => respaced(random, latex));
    const [gold, answer] = random.integer(2) === 0 ? made : made.toReversed();
    return { kind, gold: gold!, answer: answer!, same };
  });
}

import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskSource, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import type { Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import { generated } from "../generated.ts";

const forms = ["digits", "english", "german", "french", "roman", "binary", "reversed", "unary"] as const;
type Form = (typeof forms)[number];

const params = z.object({
  forms: param(
    z.array(z.enum(forms)).min(1).default(["digits", "english", "roman", "binary"]),
    "Surface forms in which the same items are written, one arm each.",
  ),
  most: param(z.number().int().min(2).max(99).default(20), "Sums go up to this."),
  answers: param(
    z.enum(["same", "digits"]).default("same"),
    "Whether an answer is in the form of its question, or in digits.",
  ),
  prompt: param(
    template("left", "right", "form").default("{left}+{right}="),
    "Template of the prompt: `{left}`, `{right}`, `{form}`.",
  ),
});
type Params = z.output<typeof params>;

const words = (text: string): readonly string[] => text.split(" ");
const small = {
  english: words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
  ),
  german: words(
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn",
  ),
  french: words(
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf",
  ),
};
const tens = {
  english: words("twenty thirty forty fifty sixty seventy eighty ninety"),
  german: words("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"),
  french: words("vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt"),
};

function english(n: number): string {
  if (n < 20) return small.english[n]!;
  const rest = n % 10;
  return tens.english[Math.floor(n / 10) - 2]! + (rest === 0 ? "" : `-${small.english[rest]!}`);
}

function german(n: number): string {
  if (n < 20) return small.german[n]!;
  const rest = n % 10;
  const ten = tens.german[Math.floor(n / 10) - 2]!;
  return rest === 0 ? ten : `${rest === 1 ? "ein" : small.german[rest]!}und${ten}`;
}

/** 71 is sixty and eleven, 80 four twenties, 91 four twenties and eleven. */
function french(n: number): string {
  if (n < 20) return small.french[n]!;
  const decade = Math.floor(n / 10);
  const ten = tens.french[decade - 2]!;
  const rest = decade === 7 || decade === 9 ? (n % 10) + 10 : n % 10;
  if (rest === 0) return n === 80 ? "quatre-vingts" : ten;
  const and = decade < 8 && (rest === 1 || rest === 11) ? "-et-" : "-";
  return `${ten}${and}${small.french[rest]!}`;
}

const romans: readonly (readonly [number, string])[] = [
  [100, "C"],
  [90, "XC"],
  [50, "L"],
  [40, "XL"],
  [10, "X"],
  [9, "IX"],
  [5, "V"],
  [4, "IV"],
  [1, "I"],
];
function roman(n: number): string {
  if (n === 0) return "N";
  const [value, text] = romans.find(([one]) => one <= n)!;
  return text + (n === value ? "" : roman(n - value));
}

const writers: Readonly<Record<Form, (n: number) => string>> = {
  digits: String,
  english,
  german,
  french,
  roman,
  binary: (n) => n.toString(2),
  reversed: (n) => [...String(n)].reverse().join(""),
  unary: (n) => "1".repeat(n),
};

const isForm = (text: string): text is Form => forms.some((form) => form === text);

function make(name: string, chosen: Params, form: Form, random: Random): Task {
  const sum = 1 + random.integer(chosen.most);
  const left = random.integer(sum + 1);
  const right = sum - left;
  const write = writers[form];
  const answer = chosen.answers === "digits" ? String(sum) : write(sum);
  return {
    // The id leaves the form out: an item is held out in all of its forms.
    id: `surface:${left}+${right}`,
    source: name,
    env: "surface",
    prompt: fill(chosen.prompt, { left: write(left), right: write(right), form }),
    answer,
    data: { left, right, form },
    solution: answer,
  };
}

export const surface = taskSource({
  name: "surface",
  summary:
    "The same sums in several surface forms, an arm each: digits, words of three languages, Roman, binary, reversed, unary. How far does a form that was trained carry to the others?",
  formula: "held-out accuracy over X trained forms ≈ α·X^β",
  sources: [
    "Parallel Scaling Law: Unveiling Reasoning Generalization through A Cross-Linguistic Perspective",
  ],
  status: "approximate",
  params,
  create: (chosen, context) => {
    const name = context.name ?? "surface";
    return generated({
      env: "surface",
      name,
      values: [...new Set(chosen.forms)],
      make: (value, random) => (isForm(value) ? make(name, chosen, value, random) : null),
      valueOf: ({ data }) => (typeof data["form"] === "string" ? data["form"] : undefined),
    });
  },
});

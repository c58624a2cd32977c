/** What distinguishes the answers that fail from those that do not: a first guess at the cause, by the answer's form. */

const traits: readonly { readonly name: string; readonly has: (answer: string) => boolean }[] = [
  { name: "empty", has: (answer) => answer.trim() === "" },
  { name: "thousands commas", has: (answer) => /\d,\d{3}(?!\d)/.test(answer) },
  { name: "several lines", has: (answer) => /\n/.test(answer.trim()) },
  { name: "LaTeX", has: (answer) => /\\[A-Za-z]+/.test(answer) },
  { name: "currency signs", has: (answer) => /[$€£¥]/.test(answer) },
  { name: "percent signs", has: (answer) => answer.includes("%") },
  { name: "fractions", has: (answer) => /\d\s*\/\s*\d/.test(answer) },
  { name: "exponents", has: (answer) => /\d[eE][+-]?\d|\^/.test(answer) },
  { name: "units or words", has: (answer) => /\d\s*[A-Za-z°]/.test(answer) },
  { name: "negative numbers", has: (answer) => /^\s*[-−]\s*[\d.]/.test(answer) },
  { name: "decimals", has: (answer) => /\d\.\d/.test(answer) },
  { name: "white space at the ends", has: (answer) => answer !== answer.trim() },
  { name: "letters", has: (answer) => /^\s*[A-Za-z]/.test(answer) },
  { name: "numbers of ten and more digits", has: (answer) => /\d{10}/.test(answer) },
];

/** Of the answers that pass, at most so many may have what explains those that fail. */
const atMost = 0.05;

export interface Trait {
  readonly trait: string;
  readonly count: number;
}

interface TraitGroups<Item> {
  readonly groups: readonly { readonly trait: string; readonly members: readonly Item[] }[];
  /** Those without any. */
  readonly rest: readonly Item[];
}

/** Each failing answer is in one group, under the trait that most of them have. */
export function traitGroups<Item>(
  failing: readonly Item[],
  answerOf: (item: Item) => string,
  passing: readonly string[],
): TraitGroups<Item> {
  const telling = traits.filter(
    ({ has }) => passing.filter(has).length <= atMost * Math.max(1, passing.length),
  );
  let open = [...failing];
  const groups: { trait: string; members: readonly Item[] }[] = [];
  while (open.length > 0) {
    const counted = telling.map(({ name, has }) => ({
      name,
      has,
      count: open.filter((item) => has(answerOf(item))).length,
    }));
    const best = counted.reduce((most, one) => (one.count > most.count ? one : most), {
      name: "",
      has: (_: string) => false,
      count: 0,
    });
    if (best.count === 0) break;
    groups.push({ trait: best.name, members: open.filter((item) => best.has(answerOf(item))) });
    open = open.filter((item) => !best.has(answerOf(item)));
  }
  return { groups, rest: open };
}

/** Each failing answer counts once. */
export const traitsOf = (failing: readonly string[], passing: readonly string[]): Trait[] =>
  traitGroups(failing, (answer) => answer, passing).groups.map(({ trait, members }) => ({
    trait,
    count: members.length,
  }));

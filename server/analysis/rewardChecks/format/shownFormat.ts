/** The format of an answer that a prompt shows: tags, a box, a JSON object or a mark, with places to fill. */

export interface ShownFormat {
  /** With `answerMark` where the answer stands, and `workMark` where the work that leads to it does. */
  readonly template: string;
  /** What a reward looks for: `<answer>`, `####`. */
  readonly markers: readonly string[];
  /** The work may have several lines: not within a JSON text. */
  readonly hasLines: boolean;
}

export const [answerMark, workMark] = ["\u0001", "\u0002"] as const;

export const written = ({ template }: ShownFormat, answer: string, work: string): string =>
  template.replaceAll(answerMark, () => answer).replaceAll(workMark, () => work);

/** Characters of a prompt that are read, and tags of it. */
const [mostText, mostTags] = [20_000, 400];

/** undefined: it shows none. */
export function shownFormat(prompt: string): ShownFormat | undefined {
  const text = prompt.slice(0, mostText);
  const runs = runsOf(pairsOf(text));
  const shown = [...runs].sort((one, other) => other.length - one.length).filter(isShown);
  const answered = shown.find((run) => answerOf(run) !== undefined) ?? runs.find(isWorked);
  if (answered !== undefined) return ofTags(text, answered);
  const [thought] = shown;
  const other = ofJson(text) ?? ofMark(text);
  if (thought === undefined) return other;
  const work = ofTags(text, thought);
  return {
    template: `${work.template}\n${other?.template.replace(`${workMark}\n`, "") ?? answerMark}`,
    markers: [...work.markers, ...(other?.markers ?? [])],
    hasLines: other?.hasLines ?? true,
  };
}

/** `<name>content</name>` */
interface Pair {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly content: string;
  /** White space alone leads to it from the pair before. */
  readonly follows: boolean;
}

function pairsOf(text: string): Pair[] {
  const tags = [...text.matchAll(/<(\/?)([A-Za-z][\w-]{0,30})>/g)].slice(0, mostTags);
  const pairs: Pair[] = [];
  for (const [i, tag] of tags.entries()) {
    const next = tags[i + 1];
    const [, slash, name = ""] = tag;
    if (slash !== "" || next?.[1] !== "/" || next[2] !== name) continue;
    const before = pairs.at(-1);
    pairs.push({
      name,
      start: tag.index,
      end: next.index + next[0].length,
      content: text.slice(tag.index + tag[0].length, next.index),
      follows: before !== undefined && text.slice(before.end, tag.index).trim() === "",
    });
  }
  return pairs;
}

/** Pairs that follow each other. */
function runsOf(pairs: readonly Pair[]): (readonly Pair[])[] {
  const runs: Pair[][] = [];
  for (const pair of pairs)
    if (pair.follows) runs.at(-1)!.push(pair);
    else runs.push([pair]);
  return runs;
}

const [answers, works] = [
  /^(final|your)?[_-]?(answer|solution|result|output|response|conclusion)/i,
  /^(think|reason|thought|explanation|analysis|scratchpad|work|steps|plan|chain)/i,
];

const answerOf = (run: readonly Pair[]): Pair | undefined => run.findLast(({ name }) => answers.test(name));

/** `...`, `{answer}`, `[your answer]`, `(reasoning here)`, `reasoning process here`. */
const slots = [
  /^(\.{2,}|…)$/,
  /^(\{[\w .-]{1,60}\}|\[[^\]\n]{1,80}\]|\([^)\n]{1,80}\)|<[^<>/\n]{1,60}>|\$[A-Za-z_]{1,20})$/,
  /^[^\n]{1,80}\b(here|goes here)[.\])]?$/i,
  /^(your|put|write|insert|the|a|an)\s[^\n]{1,80}$/i,
  /^[^\n]{0,80}(\.{3}|…)$/,
];
const isSlot = (content: string): boolean => slots.some((slot) => slot.test(content.trim()));

/** All of its places are to be filled; of two and more they may be empty: a single empty one is only spoken of. */
const isShown = (run: readonly Pair[]): boolean => {
  const isEmpty = run.length > 1 && run.every(({ content }) => content.trim() === "");
  const known = run.some(({ name }) => answers.test(name) || works.test(name));
  return known && (isEmpty || run.every(({ content }) => isSlot(content) || holdsMark(content)));
};

const longestAnswer = 60;
/** An example with its answer: only the answer's place varies. */
const isWorked = (run: readonly Pair[]): boolean => {
  const content = answerOf(run)?.content.trim() ?? "";
  return run.length > 1 && content !== "" && content.length <= longestAnswer && !content.includes("\n");
};

const holdsMark = (content: string): boolean => ofMark(content) !== undefined;

function ofTags(text: string, run: readonly Pair[]): ShownFormat {
  const answer = answerOf(run);
  let [template, from] = ["", run[0]!.start];
  for (const pair of run) {
    const open = pair.start + pair.name.length + 2;
    template += text.slice(from, open) + filled(pair.content, pair === answer);
    from = pair.end - pair.name.length - 3;
  }
  template += text.slice(from, run.at(-1)!.end);
  const markers = run.flatMap(({ name }) => [`<${name}>`, `</${name}>`]);
  return { template, markers, hasLines: true };
}

/** A content with its place marked; what an example says of its work stays. */
function filled(content: string, isAnswer: boolean): string {
  const inner = content.trim();
  const start = content.length - content.trimStart().length;
  const [before, after] = [content.slice(0, start), content.slice(start + inner.length)];
  const isOpen = inner === "" || isSlot(inner);
  const blank = inner === "" ? ["", ""] : [before, after];
  if (!isAnswer) return isOpen ? `${blank[0]}${workMark}${blank[1]}` : content;
  const within = isOpen ? undefined : ofMark(inner)?.template.replace(`${workMark}\n`, "");
  return `${blank[0]}${within ?? answerMark}${blank[1]}`;
}

/** `\boxed{}`, `#### N`, `[[N]]`, `Answer: …`, each with its place. */
const marks: readonly { readonly shown: RegExp; readonly template: string; readonly marker: string }[] = [
  { shown: /\\boxed\{[^{}\n]{0,60}\}/, template: `\\boxed{${answerMark}}`, marker: "boxed" },
  {
    shown: /####(?:["'`”]|\s?(?:\.{3}|…|\{[\w ]{1,30}\}|\[[\w ]{1,30}\]|<[\w ]{1,30}>|N\b|-?\d))/,
    template: `#### ${answerMark}`,
    marker: "####",
  },
  {
    shown: /\[\[(?:\.{3}|…|[NXA]|\d{1,6}|\w{0,10}\s?(?:answer|number|rating|score|result))\]\]/i,
    template: `[[${answerMark}]]`,
    marker: "[[",
  },
];

/** `Answer: $ANSWER`, `Final answer: {answer}` */
const named =
  /(?:^|[\n"'`“(])[ \t]*((?:the )?(?:final )?answer(?: is)?):[ \t]*(?:\.{3}|…|\{[\w ]{1,30}\}|\[[^\]\n]{1,40}\]|<[^<>\n]{1,40}>|\$[A-Za-z]{1,12}\b|\([^)\n]{1,40}\)|N\b)/i;

function ofMark(text: string): ShownFormat | undefined {
  const mark = marks.find(({ shown }) => shown.test(text));
  const label = mark === undefined ? named.exec(text)?.[1] : undefined;
  if (mark === undefined && label === undefined) return undefined;
  const template = mark?.template ?? `${label!}: ${answerMark}`;
  const asks = /step[- ]by[- ]step|\breason|\bthink|\bexplain|show your work|at the end|last line|first,/i;
  return {
    template: asks.test(text) ? `${workMark}\n${template}` : template,
    markers: [mark?.marker ?? `${label!}:`],
    hasLines: true,
  };
}

const keys = /("([\w -]{1,30})"\s*:\s*)("(?:[^"\\\n]|\\.){0,200}"|[^,"{}\n]{1,60})/g;
const answerKey = /^(final[_ -]?)?(answer|solution|result|prediction|label|choice)$/i;

/** A flat JSON object with a key for the answer. */
function ofJson(text: string): ShownFormat | undefined {
  for (const [shown] of text.matchAll(/\{[^{}]{3,400}\}/g)) {
    const found = [...shown.matchAll(keys)].find(([, , key = ""]) => answerKey.test(key));
    if (found === undefined) continue;
    const template = shown.replaceAll(keys, (_, head: string, key: string, value: string) => {
      const mark = key === found[2] ? answerMark : workMark;
      const isText = value.startsWith('"') || mark === workMark;
      return `${head}${isText ? `"${mark}"` : mark}`;
    });
    return { template, markers: [`"${found[2]!}"`], hasLines: false };
  }
  return undefined;
}

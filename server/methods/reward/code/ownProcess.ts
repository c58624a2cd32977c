/** Tests that a judge cannot run: they give the program a function of their own, or look inside its process. */
import { blanked, pythonNoise, scriptNoise } from "../../../lib/texts/blanked.ts";
import type { Task } from "../../../core/task.ts";
import { testsOf } from "./tests.ts";
import { ownProcessMark } from "../../../../shared/rollouts/criteria.ts";
import type { SandboxLanguage } from "../../../lib/sandbox/sandbox.ts";

/** Decided by the test alone: a policy cannot choose it. */
const inside =
  /\bredirect_std\w*|\bsys\s*\.\s*(?:stdout|stderr|stdin|modules)\b|\binspect\s*\.|\bglobals\s*\(|\bmock\b|\bpatch\s*\(|\bcapsys\b|\bprocess\s*\.\s*stdout\b|\basync\b|\bawait\b/;

const bareOf = (code: string, language: SandboxLanguage): string =>
  blanked(code, language === "python" ? pythonNoise : scriptNoise);

export const looksInside = (word: string): string => `looks inside the program's process (\`${word}\`)`;

/** What a test looks into the program's process with; undefined: nothing. */
export const insideWord = (code: string, language: SandboxLanguage): string | undefined =>
  inside.exec(bareOf(code, language))?.[0];

/** What makes a test run in the program's own process, where its text shows it: what it does, without its subject. A judge finds the rest as it runs it. */
export function ownProcessReason(code: string, language: SandboxLanguage): string | undefined {
  const word = insideWord(code, language);
  if (word !== undefined) return looksInside(word);
  const given = givenFunction(bareOf(code, language), language);
  return given === undefined ? undefined : `gives \`${given}\` a function of its own`;
}

/** Before a bracket that is no call. */
const keywords = new Set(
  "assert and or not in is if elif else while for return yield lambda with except switch catch typeof void case of".split(
    " ",
  ),
);
/** What is called and is never the program's. */
const common = new Set(
  (
    "print len range list dict set tuple sorted map filter zip sum min max any all iter next enumerate reversed reduce partial " +
    "defaultdict isinstance issubclass callable type getattr setattr property staticmethod classmethod cmp_to_key raises approx " +
    "function require describe it test expect setTimeout setInterval setImmediate queueMicrotask Promise Proxy"
  ).split(" "),
);

interface Names {
  /** All that a test names itself. */
  readonly bound: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
  readonly classes: ReadonlySet<string>;
}

const patterns = {
  python: {
    classes: /^[ \t]*class[ \t]+(\w+)/gm,
    functions: /^[ \t]*(?:def[ \t]+(\w+)|(\w+)[ \t]*=[ \t]*lambda\b)/gm,
    others: /^[ \t]*(?:(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+([^\n]+)|(\w+)[ \t]*=(?!=))/gm,
  },
  javascript: {
    classes: /\bclass\s+([\w$]+)/g,
    functions: /\bfunction\s*\*?\s*([\w$]+)|\b(?:const|let|var)\s+([\w$]+)\s*=\s*(?:\([^()]*\)|[\w$]+)\s*=>/g,
    others: /\b(?:const|let|var)\s+([\w$]+|\{[^}]*\}|\[[^\]]*\])/g,
  },
};

function namesOf(bare: string, language: SandboxLanguage): Names {
  const all = (pattern: RegExp): string[] =>
    [...bare.matchAll(pattern)].flatMap(([, one, other]) => (one ?? other ?? "").match(/[\w$]+/g) ?? []);
  const { classes, functions, others } = patterns[language];
  const [made, called] = [all(classes), all(functions)];
  return {
    classes: new Set(made),
    functions: new Set(called),
    bound: new Set([...made, ...called, ...all(others)]),
  };
}

/** The function of the program that is given a function, a class or an object that only the test has. */
function givenFunction(bare: string, language: SandboxLanguage): string | undefined {
  const { bound, functions, classes } = namesOf(bare, language);
  const isTheirs = (name: string): boolean =>
    /^[A-Za-z_$][\w$]*$/.test(name) && !common.has(name) && !bound.has(name);
  const isFunction = (word: string): boolean =>
    language === "python" ? word === "lambda" : word === "=>" || word === "function";
  const isOwn = (word: string, next: string): boolean =>
    (classes.has(word) && !/^[=.:]/.test(next)) || (functions.has(word) && !/^(?:[.:(]|=$)/.test(next));
  /** Whose argument each open bracket is in. */
  const open: (string | undefined)[] = [];
  const words = bare.match(/[\w$.]+|[=!<>]=+|=>|\S/g) ?? [];
  for (const [k, word] of words.entries()) {
    const callee = open.at(-1);
    if (callee !== undefined && (isFunction(word) || isOwn(word, words[k + 1] ?? ""))) return callee;
    const last = words[k - 1] ?? "";
    const isCall = word === "(" && /[\w$)\]]$/.test(last) && !keywords.has(last);
    if (isCall) open.push(isTheirs(last) ? last : undefined);
    else if ("([{".includes(word)) open.push(callee);
    else if (")]}".includes(word)) open.pop();
  }
  return undefined;
}

/** What a test needs so that a judge can run it. */
export const ownProcessAdvice =
  "Write such a test as a call and its output (`fn_name`, `inputs`, `outputs`), or define the function that it gives in the field `test_setup_code`.";

export const cutTo = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;

/** What a test says that the program's own process graded. */
export const markedText = (text: string, why: string): string => `${text} (${ownProcessMark}: it ${why})`;

export interface OwnProcessTest {
  readonly code: string;
  readonly why: string;
}

/**
 * The tests of a task that show that the program's own process has to run them.
 * @param params of a term `unit_tests`
 */
export function ownProcessTests(
  task: Pick<Task, "id" | "data" | "answer">,
  { field, language }: { readonly field: string; readonly language: SandboxLanguage | "auto" },
): OwnProcessTest[] {
  const tests = testsOf(task, field);
  if (typeof tests === "string") return [];
  return tests.flatMap((test) => {
    if (test.kind !== "asserted") return [];
    const why = ownProcessReason(test.code, language === "auto" ? languageOf(test.code) : language);
    return why === undefined ? [] : [{ code: cutTo(test.code.trim(), 160), why }];
  });
}

/** Where only a response would tell. */
const languageOf = (code: string): SandboxLanguage =>
  /\b(?:const|let|var)\s+[\w$[{]|=>|===|!==|\bassert\.\w+\(/.test(code) ? "javascript" : "python";

/** The launches, notebooks and configs that a file of the person's own functions is named by: those train with it. */
import { basename, dirname, extname, resolve } from "node:path";
import { isConfigName } from "../../../config/configKind.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { copiedWord } from "../../../../shared/lib/copiedWord.ts";
import { signatureOf } from "../../../config/check/signatures/index.ts";
import { pythonNames } from "../../../config/check/pythonNames.ts";
import { isPython, pythonText } from "../../../lib/notebook/notebook.ts";
import { pythonImports } from "../../../lib/python/imports.ts";
import { shownPath } from "../../../lib/texts/shownPath.ts";
import { converts } from "./convertFile.ts";
import { smallText } from "../../text/fileReader.ts";
import { placeOfFile } from "../../readers/verlFiles.ts";
import { filesAround } from "./configNear.ts";

const functionEndings = [".py", ".ts", ".mts", ".js", ".mjs"];

/** What may hold a reward, and is no configuration by its name. */
const mayHoldFunctions = (file: string): boolean => functionEndings.includes(extname(file));

/** The nearest first, in the file's folder, those above it as far as its repository, and those below these. */
function namersOf(file: string): readonly string[] {
  const own = resolve(file);
  return filesAround(dirname(own)).filter((other) => other !== own && names(other, own) && isRead(other));
}

const isRead = (file: string): boolean => isConfigName(file) || converts(file);

/** Whether a file names another by its path, or imports it. */
function names(file: string, own: string): boolean {
  const text = smallText(file);
  const name = basename(own);
  if (text === undefined || !text.includes(basename(own, extname(own)))) return false;
  const words = text.match(/[\w$~{}./-]+/g) ?? [];
  if (words.some((word) => basename(word) === name && isPathTo(word, file, own))) return true;
  return isPython(file) && isPython(own) && imports(file, text, own);
}

function imports(file: string, text: string, own: string): boolean {
  try {
    return pythonImports(file, pythonText(file, text)).files.some(({ path }) => path === own);
  } catch (error) {
    // A notebook that is cut, or a file that it imports and that cannot be read.
    if (error instanceof UserError) return false;
    throw error;
  }
}

/** A variable's folder is known where the launch runs. */
function isPathTo(word: string, file: string, own: string): boolean {
  const below = /^\$(?:\w+|\{\w+\})\/(.+)$/.exec(word)?.[1];
  return below === undefined ? placeOfFile(file, word) === own : own.endsWith(`/${below}`);
}

/** Named in a sentence. */
const most = 3;

interface Named {
  /** What trains with the file, as a word of a shell; undefined: nothing near it. */
  readonly by: string | undefined;
  /** A sentence without its last stop. */
  readonly text: string;
}

/** Of a file that is no configuration: what names it, or what to write where nothing does and it holds a reward. */
function named(file: string): Named | undefined {
  if (!mayHoldFunctions(file)) return undefined;
  const [by, ...others] = namersOf(file).map((one) => copiedWord(shownPath(process.cwd(), one)));
  if (by !== undefined) {
    const all = [by, ...others].slice(0, most).join(", ");
    const more = others.length >= most ? ", …" : "";
    return { by, text: others.length === 0 ? `${by} names it` : `${all}${more} name it` };
  }
  if (!holdsReward(file)) return undefined;
  const text = `no launch, notebook or config near it names this reward: name it in one, or write a config with \`reward: { terms: { score: ./${basename(file)} } }\``;
  return { by, text };
}

/** Why it is not checked: a sentence without its last stop. */
export function namedText(file: string): string | undefined {
  const { by, text } = named(file) ?? {};
  return by === undefined
    ? text
    : `${text}: \`gradus validate ${by}\` checks both, \`gradus reward ${by} --gold --probe\` tries the reward`;
}

/** As a failure of a command that needs a configuration; undefined where the file is one, or nothing better is known. */
export function onlyNamed(file: string): UserError | undefined {
  const path = resolve(file);
  const { by, text } = (!mayHoldFunctions(path) || converts(path) ? undefined : named(path)) ?? {};
  if (text === undefined) return undefined;
  const action =
    by === undefined
      ? `${text.replace(/^no /, "No ")}.`
      : `Name ${by}, which names it: \`gradus reward ${by} --gold --probe\` tries its reward.`;
  return new UserError("this is no configuration", { file: path, code: "unknown-config", action });
}

/** A function that is called by names of TRL, verl or another trainer. */
function holdsReward(file: string): boolean {
  const [path, text] = [resolve(file), smallText(resolve(file))];
  if (text === undefined || extname(file) !== ".py") return false;
  return pythonNames(text).names.some((name) => signatureOf(path, name)?.recognised?.kind === "convention");
}

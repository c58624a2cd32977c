/** What one file is, and what is wrong with it. */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { UserError, readFailure } from "../../../shared/lib/errors.ts";
import {
  configKind,
  isConfigName,
  looksOwn,
  type ConfigKind,
  type FileKind,
} from "../../config/configKind.ts";
import { grammar } from "../../config/grammar/grammar.ts";
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import { allDiagnostics } from "../../rules/load.ts";
import { fixAll, fixRounds } from "../../rules/fixAll.ts";
import { startOfFile } from "../../config/text/node.ts";
import { aliasesBeyond, tooManyAliases } from "../../frameworks/text/composed.ts";
import {
  checkFrameworkDocument,
  checkedAgainst,
  readFrameworkDocument,
  type FrameworkDocument,
  type CheckedRelease,
} from "../../frameworks/check/index.ts";
import { otherTrainer, type OtherTrainer } from "../../frameworks/readers/otherTrainer.ts";
import { namedText } from "../../frameworks/use/asConfig/namedBy.ts";
import { inFile } from "../../frameworks/text/notebook/diagnostics.ts";
import { limits, readText } from "../../lib/inputFile.ts";
import { isNotebook, longestSource, whyNoCode } from "../../lib/notebook/notebook.ts";
import { engineKeys } from "../../frameworks/lens/engineKeys.ts";
import { modelFacts } from "../../analysis/modelFacts.ts";
import { isCurriculumTest, readCurriculumTests } from "../../analysis/curriculumTests/read.ts";
import { checkSite, isSiteFile, saysSite } from "../../sites/siteFile.ts";
import { nothingIn, wantedFiles, type SelectedFile } from "./files.ts";

export interface Checked {
  /** As the person wrote it. */
  readonly file: string;
  readonly kind: FileKind;
  readonly diagnostics: readonly Diagnostic[];
  /** Of a notebook: the same at the lines of its file, which holds its cells as JSON. */
  readonly written?: readonly Diagnostic[];
  /** For another framework's config: the release that it was checked against. */
  readonly release?: CheckedRelease;
  /** Of a file of a trainer that is not checked here. */
  readonly other?: OtherTrainer;
  /** Of a file that no rule has read, why there is nothing to read. */
  readonly why?: string;
  /** verl's own reward trains, by what its launch says: there is none of the folder's to try. */
  readonly trainersReward?: boolean;
  /** A script whose settings come from its command line. */
  readonly commanded?: boolean;
  /** Its text was fixed before it was checked. */
  readonly fixed: boolean;
}

interface CheckOptions {
  readonly set: readonly string[];
  /** Skip files that are not a configuration, even if they were named. */
  readonly skipOthers: boolean;
  readonly fix: boolean;
  /** Files that are looked at below a folder; default: all. */
  readonly most?: number;
}

/** @throws UserError of code `usage` where the words mean files, and none of them is anybody's configuration */
export function checkAll(words: readonly string[], options: CheckOptions): readonly Checked[] {
  const checked = wantedFiles(words, options.most).flatMap((wanted) => check(wanted, options) ?? []);
  if (checked.length === 0 && !options.skipOthers) throw nothingIn(words);
  return checked;
}

/** Files that no rule has read. */
export const isUnchecked = ({ kind }: Checked): boolean => kind === "unknown";

/** Those, by their trainer; undefined: of none that is known here. */
export function uncheckedByTrainer(
  checked: readonly Checked[],
): readonly { readonly trainer: string | undefined; readonly files: readonly Checked[] }[] {
  const unchecked = checked.filter(isUnchecked);
  return [...new Set(unchecked.map(({ other }) => other?.name))].map((trainer) => ({
    trainer,
    files: unchecked.filter(({ other }) => other?.name === trainer),
  }));
}

/** undefined where the file is none of those that are checked. */
export function check({ file, found }: SelectedFile, options: CheckOptions): Checked | undefined {
  const path = resolve(file);
  try {
    const text = readText(path, /\.(ya?ml|json)$/.test(path) ? limits.config : longestSource(path));
    // Whoever names it means a site; other programs have folders of that name, too.
    if (isSiteFile(file) && (!found || saysSite(text)))
      return { file, kind: "site", diagnostics: checkSite(path, text).diagnostics, fixed: false };
    if (isCurriculumTest(file)) {
      const { diagnostics } = readCurriculumTests(path, text);
      return { file, kind: "curriculum_test", diagnostics, fixed: false };
    }
    const framework = isConfigName(file) ? undefined : readFrameworkDocument(path, text);
    if (framework !== undefined) return checkFramework(file, text, framework, options.fix);
    if (!isConfigName(file) && options.skipOthers) return undefined;
    if (!isConfigName(file) && found) return anothersFile(file, text);
    const why = isNotebook(file) ? whyNoCode(path, text) : namedText(path);
    if (why !== undefined) return { file, kind: "unknown", diagnostics: [], why, fixed: false };
    return checkOwn(file, path, text, options);
  } catch (error) {
    return { file, kind: "gradus", diagnostics: [failure(path, error)], fixed: false };
  }
}

const isTrainersReward = ({ framework, settings, base, incomplete }: FrameworkDocument): boolean =>
  framework === "verl" &&
  !incomplete &&
  [...settings.map(({ key }) => key), ...base.keys()].every((key) => !/custom_reward_function/.test(key));

function checkFramework(file: string, text: string, found: FrameworkDocument, fix: boolean): Checked {
  const path = resolve(file);
  const edited = fix ? fixFramework(path, text) : text;
  const fixed = write(path, text, edited);
  const document = (fixed ? readFrameworkDocument(path, edited) : undefined) ?? found;
  const diagnostics = checkFrameworkDocument(document);
  return {
    file,
    kind: found.framework,
    release: checkedAgainst(document),
    ...(document.commanded === true ? { commanded: true } : {}),
    ...(isTrainersReward(document) ? { trainersReward: true } : {}),
    diagnostics,
    ...(isNotebook(file) ? { written: inFile(edited, diagnostics) } : {}),
    fixed,
  };
}

function checkOwn(file: string, path: string, text: string, { set, fix }: CheckOptions): Checked {
  const kind = configKind(text);
  if (kind !== "gradus" && aliasesBeyond(text))
    return checkedFile(file, kind, whole(path, tooManyAliases, "syntax"));
  if (isConfigName(file)) {
    if (kind !== "gradus") return checkedFile(file, kind, whole(path, anothers(kind), "not-yet"));
  } else if (kind !== "gradus" || !looksOwn(text, Object.keys(grammar.fields))) {
    return anothersFile(file, text) ?? { file, kind: "unknown", diagnostics: [], fixed: false };
  }
  const known = { models: modelFacts, engineKeys };
  const edited = fix ? fixAll(path, text, known) : text;
  const fixed = write(path, text, edited);
  return {
    file,
    kind,
    diagnostics: allDiagnostics(path, {
      text: edited,
      set,
      ...known,
      trials: "combinations",
    }),
    fixed,
  };
}

/** Said and not checked. */
function anothersFile(file: string, text: string): Checked | undefined {
  const other = otherTrainer(file, text);
  return other && { file, kind: "unknown", diagnostics: [], fixed: false, other };
}

const checkedFile = (file: string, kind: ConfigKind, diagnostic: Diagnostic): Checked => ({
  file,
  kind,
  diagnostics: [diagnostic],
  fixed: false,
});

const fixFramework = (path: string, text: string): string =>
  fixRounds(text, (now) => {
    const document = readFrameworkDocument(path, now);
    const found = document === undefined ? [] : checkFrameworkDocument(document);
    return isNotebook(path) ? inFile(now, found) : found;
  });

function write(path: string, before: string, after: string): boolean {
  if (before === after) return false;
  writeFileSync(path, after);
  return true;
}

const whole = (path: string, message: string, rule: string): Diagnostic => ({
  severity: "error",
  rule,
  message,
  key: "",
  file: path,
  fixes: [],
  range: startOfFile,
});

const anothers = (kind: ConfigKind): string =>
  `This looks like a ${kind} config. A file that ends in .gradus.yaml must be a Gradus config: "gradus convert" makes one from it.`;

const placeAt = (line: number, character: number): Diagnostic["range"] => {
  const start = { line, character };
  return { start, end: start };
};

function failure(path: string, error: unknown): Diagnostic {
  if (!(error instanceof UserError))
    return whole(path, `The file cannot be read: ${readFailure(error)}.`, "missing-file");
  const { code = "failed", action, file, line, character = 0 } = error.detail;
  const message = `${error.message.replace(/([^.!?])$/, "$1.")}${action === undefined ? "" : ` ${action}`}`;
  return {
    ...whole(path, message, code),
    ...(file === path && line !== undefined ? { range: placeAt(line, character) } : {}),
    ...(code === "set" ? { option: { text: "--set", message } } : {}),
  };
}

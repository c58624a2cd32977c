/** One edit, one question, and everything that must hold after them. */
import { isDeepStrictEqual } from "node:util";
import { LSPErrorCodes, ResponseError, type Diagnostic, type Position } from "vscode-languageserver-protocol";
import { TextDocument } from "vscode-languageserver-textdocument";
import { loadConfig } from "../../server/rules/load.ts";
import { modelFacts } from "../../server/analysis/modelFacts.ts";
import { engineKeys } from "../../server/frameworks/lens/engineKeys.ts";
import { checkFrameworkDocument, readFrameworkDocument } from "../../server/frameworks/check/index.ts";
import type { Source } from "./corpus.ts";
import type { Edit } from "./edits.ts";
import { questions, rangesOutside } from "./requests.ts";
import { Session } from "./session.ts";

export interface Step {
  readonly edit: Edit;
  readonly question: string;
  /** An offset in the edited text, or the start of a line after the last one. */
  readonly at: number;
}

interface Finding {
  readonly rule: unknown;
  readonly message: unknown;
  readonly range: Diagnostic["range"];
}

const isConfig = ({ languageId, file }: Source): boolean =>
  languageId === "gradus-yaml" || /\.gradus\.ya?ml$/.test(file);

/** What a check that knows nothing of earlier texts finds. */
function freshly(source: Source, text: string): Finding[] {
  const document = isConfig(source) ? undefined : readFrameworkDocument(source.file, text);
  const found = isConfig(source)
    ? loadConfig(source.file, { text, models: modelFacts, engineKeys }).diagnostics
    : document === undefined
      ? []
      : checkFrameworkDocument(document);
  return found.map(({ rule, message, range }) => ({ rule, message, range }));
}

const shownOf = (session: Session, uri: string): Finding[] =>
  (session.shown.get(uri)?.diagnostics ?? []).map(({ code, message, range }) => ({
    rule: code,
    message,
    range,
  }));

/** Refusals that an editor shows to the person; everything else is an error of ours. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ResponseError &&
  [LSPErrorCodes.RequestFailed, -32602, -32600].some((code) => code === error.code);

async function answer(session: Session, source: Source, step: Step): Promise<string | undefined> {
  const text = session.texts.get(source.uri) ?? "";
  const document = TextDocument.create(source.uri, "", 0, text);
  const position: Position =
    step.at > text.length ? { line: document.lineCount + 3, character: 2 } : document.positionAt(step.at);
  try {
    const given = await questions[step.question]?.(session.client, source.uri, position);
    const outside = rangesOutside(given, text, source.uri);
    return outside.length === 0
      ? undefined
      : `${step.question} answers with a range outside of the text: ${outside[0]}`;
  } catch (error) {
    return isRefusal(error)
      ? undefined
      : `${step.question} failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Does a step; returns what is wrong, if anything. The document is open. */
export async function attempt(session: Session, source: Source, step: Step): Promise<string | undefined> {
  await session.edit(source.uri, step.edit);
  const text = session.texts.get(source.uri) ?? "";
  const wrong = await answer(session, source, step);
  const expected = freshly(source, text);
  const settled = await session.until(() => isDeepStrictEqual(shownOf(session, source.uri), expected));
  if (wrong !== undefined) return wrong;
  if (session.errors.length > 0) return `the server logged an error: ${session.errors.splice(0).join("\n")}`;
  if (!settled)
    return `stale diagnostics: shown ${JSON.stringify(shownOf(session, source.uri))}, fresh ${JSON.stringify(expected)}`;
  const outside = rangesOutside(shownOf(session, source.uri), text, source.uri);
  return outside.length > 0 ? `a diagnostic lies outside of the text: ${outside[0]}` : undefined;
}

/** The same step on a document that is opened with this text alone. */
export async function alone(
  source: Source,
  text: string,
  step: Omit<Step, "edit">,
): Promise<string | undefined> {
  const session = await Session.start();
  try {
    await session.open(source.uri, source.languageId, text);
    return await attempt(session, source, { ...step, edit: { start: 0, end: 0, text: "" } });
  } finally {
    session.dispose();
  }
}

/** Every question an editor asks of a place in a document, and what its answer may not be. */
import {
  CodeActionRequest,
  CodeLensRequest,
  CompletionRequest,
  DefinitionRequest,
  DocumentFormattingRequest,
  DocumentHighlightRequest,
  DocumentLinkRequest,
  DocumentSymbolRequest,
  FoldingRangeRequest,
  HoverRequest,
  InlayHintRequest,
  PrepareRenameRequest,
  ReferencesRequest,
  RenameRequest,
  SelectionRangeRequest,
  SemanticTokensRequest,
  SignatureHelpRequest,
  WorkspaceSymbolRequest,
  type Position,
  type ProtocolConnection,
} from "vscode-languageserver-protocol";
import { z } from "zod";

type Ask = (client: ProtocolConnection, uri: string, position: Position) => Promise<unknown>;

const everything = { start: { line: 0, character: 0 }, end: { line: 1_000_000, character: 0 } };
const at = (uri: string, position: Position): { textDocument: { uri: string }; position: Position } => ({
  textDocument: { uri },
  position,
});

export const questions: Readonly<Record<string, Ask>> = {
  completion: (client, uri, position) => client.sendRequest(CompletionRequest.type, at(uri, position)),
  hover: (client, uri, position) => client.sendRequest(HoverRequest.type, at(uri, position)),
  definition: (client, uri, position) => client.sendRequest(DefinitionRequest.type, at(uri, position)),
  references: (client, uri, position) =>
    client.sendRequest(ReferencesRequest.type, {
      ...at(uri, position),
      context: { includeDeclaration: true },
    }),
  highlights: (client, uri, position) => client.sendRequest(DocumentHighlightRequest.type, at(uri, position)),
  prepareRename: (client, uri, position) => client.sendRequest(PrepareRenameRequest.type, at(uri, position)),
  rename: (client, uri, position) =>
    client.sendRequest(RenameRequest.type, { ...at(uri, position), newName: "renamed" }),
  signature: (client, uri, position) => client.sendRequest(SignatureHelpRequest.type, at(uri, position)),
  selection: (client, uri, position) =>
    client.sendRequest(SelectionRangeRequest.type, { textDocument: { uri }, positions: [position] }),
  fixes: (client, uri, position) =>
    client.sendRequest(CodeActionRequest.type, {
      textDocument: { uri },
      range: { start: position, end: position },
      context: { diagnostics: [] },
    }),
  allFixes: (client, uri) =>
    client.sendRequest(CodeActionRequest.type, {
      textDocument: { uri },
      range: everything,
      context: { diagnostics: [] },
    }),
  formatting: (client, uri) =>
    client.sendRequest(DocumentFormattingRequest.type, {
      textDocument: { uri },
      options: { tabSize: 2, insertSpaces: true },
    }),
  hints: (client, uri) =>
    client.sendRequest(InlayHintRequest.type, { textDocument: { uri }, range: everything }),
  tokens: (client, uri) => client.sendRequest(SemanticTokensRequest.type, { textDocument: { uri } }),
  symbols: (client, uri) => client.sendRequest(DocumentSymbolRequest.type, { textDocument: { uri } }),
  folds: (client, uri) => client.sendRequest(FoldingRangeRequest.type, { textDocument: { uri } }),
  links: (client, uri) => client.sendRequest(DocumentLinkRequest.type, { textDocument: { uri } }),
  lenses: (client, uri) => client.sendRequest(CodeLensRequest.type, { textDocument: { uri } }),
  workspaceSymbols: (client) => client.sendRequest(WorkspaceSymbolRequest.type, { query: "c" }),
};

const place = z.object({ line: z.number(), character: z.number() });
const rangeSchema = z.object({ start: place, end: place });

/** Ranges anywhere in an answer that lie outside of the text, or end before they begin. Answers about other files are left out. */
export function rangesOutside(answer: unknown, text: string, uri: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  const inside = ({ line, character }: Position): boolean =>
    line >= 0 && character >= 0 && line < lines.length && character <= (lines[line]?.length ?? 0);
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== "object" || value === null) return;
    if ("uri" in value && value.uri !== uri) return;
    if ("changes" in value) return visit(Reflect.get(Object(value.changes), uri));
    const range = rangeSchema.safeParse(value);
    if (!range.success) return Object.values(value).forEach(visit);
    const { start, end } = range.data;
    const ordered = start.line < end.line || (start.line === end.line && start.character <= end.character);
    if (!inside(start) || !inside(end) || !ordered) found.push(JSON.stringify(range.data));
  };
  visit(answer);
  return found;
}

/** Typed calls of the protocol's descriptors, over any JSON-RPC connection. */
import type { z } from "zod";
import { UserError, messageOf } from "../lib/errors.ts";
import { errorCodes, type InputOf, type ResultOf } from "../protocol/protocol.ts";

/** What a request needs of a connection: vscode-jsonrpc's MessageConnection and a LanguageClient both have it. */
export interface Requester {
  sendRequest(method: string, parameters: unknown, token?: Cancellation): Promise<unknown>;
}

/** A CancellationToken of the editor or of vscode-jsonrpc: the request is still answered. */
export interface Cancellation {
  readonly isCancellationRequested: boolean;
  onCancellationRequested: (listener: () => unknown) => { dispose(): void };
}

/** Asks and waits. A refusal by the daemon becomes a UserError with its action; `code` names it as in errorCodes. */
export async function ask<R extends { readonly method: string; readonly params: z.ZodType }>(
  connection: Requester,
  request: R,
  parameters: InputOf<R>,
  token?: Cancellation,
): Promise<ResultOf<R>> {
  try {
    const answer: unknown = await (token === undefined
      ? connection.sendRequest(request.method, parameters)
      : connection.sendRequest(request.method, parameters, token));
    return trusted<R>(answer);
  } catch (error) {
    throw asUserError(error);
  }
}

/** Of vscode-jsonrpc: a message that was not written or read, an answer that cannot come, a connection that is over. */
const brokenCodes: ReadonlySet<string> = new Set(["-32099", "-32098", "-32097", "-32096"]);

/** Nobody has refused anything: the connection broke. */
export const isBroken = (error: unknown): boolean =>
  !(error instanceof UserError) || brokenCodes.has(error.detail.code ?? "");

/** What a refusal is about, by the code of the daemon's own error. */
export function refusedAs(error: unknown): string | undefined {
  const cause = error instanceof UserError ? error.detail.cause : undefined;
  const data = cause instanceof Error && "data" in cause ? cause.data : undefined;
  return typeof data === "object" && data !== null && "rule" in data && typeof data.rule === "string"
    ? data.rule
    : undefined;
}

/** The daemon is of our own making and checked by its handshake: its answers are typed, not parsed again. */
const trusted = <R>(answer: unknown): ResultOf<R> => answer as ResultOf<R>;

/** A JSON-RPC error as the error a person reads. */
function asUserError(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "number") return error;
  const name = Object.entries(errorCodes).find(([, code]) => code === error.code)?.[0];
  const data = "data" in error && typeof error.data === "object" && error.data !== null ? error.data : {};
  const detail: { action?: string; file?: string; line?: number; character?: number } = {};
  if ("action" in data && typeof data.action === "string") detail.action = data.action;
  if ("file" in data && typeof data.file === "string") detail.file = data.file;
  if ("line" in data && typeof data.line === "number") detail.line = data.line;
  if ("character" in data && typeof data.character === "number") detail.character = data.character;
  return new UserError(messageOf(error), { ...detail, code: name ?? String(error.code), cause: error });
}

/** Errors at the daemon's boundary: what a person can act on goes out with its action, the rest as an internal error. */
import { ErrorCodes, ResponseError } from "vscode-jsonrpc/node";
import type { z } from "zod";
import { UserError, messageOf } from "../../shared/lib/errors.ts";
import { errorCodes } from "../../shared/protocol/protocol.ts";

/** Names of errorCodes that a UserError may carry as its code; everything else a person caused is `refused`. */
const named = new Map<string, number>(Object.entries(errorCodes));

export function asResponse(
  error: unknown,
  more: Readonly<Record<string, unknown>> = {},
): ResponseError<Readonly<Record<string, unknown>>> {
  if (error instanceof ResponseError) return error;
  if (!(error instanceof UserError))
    return new ResponseError(ErrorCodes.InternalError, `The daemon failed: ${messageOf(error)}`, {
      action: "See `gradus daemon logs`.",
    });
  const { action, file, line, character, code } = error.detail;
  return new ResponseError(named.get(code ?? "") ?? errorCodes.refused, error.message, {
    action,
    file,
    line,
    character,
    rule: code,
    ...more,
  });
}

/** Parameters as the descriptor wants them, defaults filled in. */
export function checked<Params>(schema: z.ZodType<Params>, method: string, value: unknown): Params {
  const result = schema.safeParse(value ?? {});
  if (result.success) return result.data;
  const problems = result.error.issues
    .map((issue) => `${issue.path.join(".") || "parameters"}: ${issue.message}`)
    .join("; ");
  throw new ResponseError(ErrorCodes.InvalidParams, `${method}: ${problems}`, {
    action: "See docs/protocol.md.",
  });
}

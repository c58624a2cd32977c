/** Refusals, in the shape of the API that was asked. */
import { messageOf, UserError } from "../../shared/lib/errors.ts";

export type Api = "openai" | "anthropic";

/** What is sent in place of an answer. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  constructor(
    readonly status: number,
    /** As OpenAI names it. */
    readonly code: string,
    message: string,
    readonly param: string | null = null,
  ) {
    super(message);
  }
}

/** Anthropic's error types by status. */
const anthropicTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  410: "invalid_request_error",
  408: "invalid_request_error",
  413: "request_too_large",
  429: "rate_limit_error",
};

export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof UserError))
    return new Refusal(
      500,
      "internal_error",
      `${messageOf(error)}. The server goes on; its output says more.`,
    );
  const { action, code = "invalid_request" } = error.detail;
  return new Refusal(400, code, action === undefined ? error.message : `${error.message} ${action}`);
}

export function errorBody(api: Api, { status, code, message, param }: Refusal): object {
  if (api === "anthropic")
    return { type: "error", error: { type: anthropicTypes[status] ?? "api_error", message } };
  const type =
    status === 401 ? "authentication_error" : status < 500 ? "invalid_request_error" : "server_error";
  return { error: { message, type, param, code } };
}

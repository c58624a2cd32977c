import { ResponseError, LSPErrorCodes, type CancellationToken } from "vscode-languageserver";

/** A handler that cannot throw: an error is logged and answered with `fallback`, a cancelled request says so. */
export const guarded =
  <Params, Result>(
    name: string,
    fallback: Result,
    log: (text: string) => void,
    handle: (params: Params) => Result | Promise<Result>,
  ) =>
  async (params: Params, token?: CancellationToken): Promise<Result | ResponseError> => {
    if (token?.isCancellationRequested === true)
      return new ResponseError(LSPErrorCodes.RequestCancelled, `${name} was cancelled`);
    try {
      return await handle(params);
    } catch (error) {
      log(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      return fallback;
    }
  };

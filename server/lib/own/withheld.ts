/**
 * Whether this process starts programs of the folder that it works on: interpreters that the folder holds or names, and files of
 * rewards, environments and tools. A command that only looks calls `withhold` before its action. What starts such programs asks
 * `admit`, so a way there that nobody thought of ends in an error.
 */
import { delimiter, isAbsolute } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";

let action: string | undefined;

/** @param next what a person does who trusts the folder */
export function withhold(next: string): void {
  action = next;
}

export const isWithheld = (): boolean => action !== undefined;

/** @param what e.g. "the Python `.venv/bin/python`" @throws UserError where programs of the folder are withheld */
export function admit(what: string, file: string): void {
  if (action === undefined) return;
  throw new UserError(`${what} is a program of this folder, and starting it runs the folder's code`, {
    file,
    code: "untrusted",
    action,
  });
}

/** Relative entries of PATH would take what the current folder plants, e.g. in `node_modules/.bin`, for a program of the user's. */
export function leaveOutRelativePath(): void {
  const { PATH } = process.env;
  if (PATH !== undefined)
    process.env["PATH"] = PATH.split(delimiter)
      .filter((entry) => isAbsolute(entry))
      .join(delimiter);
}

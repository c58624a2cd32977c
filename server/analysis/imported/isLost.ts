import { UserError } from "../../../shared/lib/errors.ts";

/** Whether a step of an imported run cannot be read since its file has changed, or is gone: other steps can. */
export const isLost = (error: unknown): error is UserError =>
  error instanceof UserError && error.detail.code?.startsWith("placed-") === true;

import { UserError, readFailure } from "../../shared/lib/errors.ts";

/** A file of tasks that is not there, or that this person may not read. */
export const unreadDataset = (file: string, error: unknown): UserError =>
  new UserError(`the dataset can't be read: ${readFailure(error)}`, {
    file,
    code: "dataset-missing",
    cause: error,
    action: "Check the path; it is relative to the config's folder.",
  });

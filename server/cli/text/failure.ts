/** An error as the command line says it. */
import { UserError, errorPlace, messageOf } from "../../../shared/lib/errors.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { complain, exit } from "../command.ts";

/** To stderr: what is wrong and what to do. @returns the exit code */
export function sayFailure(error: unknown): number {
  if (error instanceof UserError) {
    const { code, action } = error.detail;
    complain(
      `${errorPlace(error.detail)}error: ${visibleText(error.message)}${code === undefined ? "" : ` [${code}]`}`,
    );
    if (action !== undefined) complain(`  ${action}`);
    return code === "usage" ? exit.usage : exit.failed;
  }
  complain(
    `gradus: ${process.env["GRADUS_DEBUG"] === undefined ? messageOf(error) : error instanceof Error ? error.stack : String(error)}`,
  );
  return exit.failed;
}

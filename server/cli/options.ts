/** Values of options, refused as wrong usage where they are not what the option takes. */
import { InvalidArgumentError } from "commander";

/** For `option(…, whole(1))`: a whole number from `least` on. */
export const whole =
  (least = Number.MIN_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(
      least === Number.MIN_SAFE_INTEGER
        ? "Write a whole number."
        : `Write a whole number of at least ${least}.`,
    );
  };

/** For `option(…, repeated, [])`: all that it was given. */
export const repeated = (word: string, earlier: readonly string[]): string[] => [...earlier, word];

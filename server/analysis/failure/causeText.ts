import type { RootCause } from "./rootCause.ts";

/** "GPU memory ran out. It was thrown at train.py:12. Lower …. In the config of Gradus the key is `update.micro_tokens`." */
export const causeText = ({
  cause,
  where,
  action,
  gradus,
}: Pick<RootCause, "cause" | "where" | "action" | "gradus">): string =>
  [
    sentence(cause),
    ...(where === null ? [] : [`It was thrown at ${where}.`]),
    sentence(action),
    ...(gradus === null ? [] : [`In the config of Gradus the key is \`${gradus}\`.`]),
  ].join(" ");

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

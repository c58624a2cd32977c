import type { Command } from "./command.ts";

export const command: Command = { name: "runs", configure: () => undefined };

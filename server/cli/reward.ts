import type { Command } from "./command.ts";

export const command: Command = { name: "reward", configure: () => undefined };

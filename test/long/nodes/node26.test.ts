/** The tests pass under Node 26. */
import { passesUnder } from "../../support/otherNode.ts";

passesUnder(26);

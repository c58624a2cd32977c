/** The tests pass under Node 22. */
import { passesUnder } from "../../support/otherNode.ts";

passesUnder(22);

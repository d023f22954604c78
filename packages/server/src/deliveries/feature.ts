/** People and systems that are told about cases: who, what, and the making of it. */
import type { deliveryOperations } from '@rollcall/shared/api/deliveries';
import type { Handlers } from '../platform/http/handler.ts';
import { createCourier } from './courier.ts';
import type { DeliveryDeps } from './deps.ts';
import { deliveryLogHandlers } from './log.ts';
import { mailHandlers } from './mail-settings.ts';
import { subscriptionHandlers } from './subscriptions.ts';

export interface DeliveryFeature {
  handlers: Handlers<keyof typeof deliveryOperations>;
  /** Makes deliveries until the answer is called. */
  start(): () => Promise<void>;
}

export function createDeliveryFeature(deps: DeliveryDeps): DeliveryFeature {
  const courier = createCourier(deps);
  return {
    handlers: { ...subscriptionHandlers(deps), ...deliveryLogHandlers(deps), ...mailHandlers(deps) },
    start: () => courier.start(),
  };
}

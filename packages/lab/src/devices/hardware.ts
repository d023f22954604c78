/** What most boxes have in entPhysicalTable. */
import type { EntityTemplate } from '../product.ts';

type Details = Partial<Omit<EntityTemplate, 'class' | 'name'>>;

/** The box itself: its model and its serial number, unless said otherwise. */
export const chassis = (name: string, description: string, details: Details): EntityTemplate => ({
  key: 'chassis',
  class: 'chassis',
  name,
  description,
  model: '{model}',
  serial: 'own',
  ...details,
});

export const powerSupply = (
  name: string,
  details: Details & Pick<EntityTemplate, 'description'>,
): EntityTemplate => ({ key: 'psu', class: 'power', parent: 'chassis', name, fru: true, ...details });

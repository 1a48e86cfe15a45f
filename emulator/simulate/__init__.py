"""What settings do under a load: a modelled producer and consumer on virtual time, exactly or by count."""

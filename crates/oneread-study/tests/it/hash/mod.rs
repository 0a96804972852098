mod family;

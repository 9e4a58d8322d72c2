"""Words that generated papers are written with; entities, names and journals are invented."""

ADJECTIVES = (
    "residual thermal magnetic specific diffuse local structural efficient significant "
    "anisotropic interfacial effective fluorescent rapid reversible amorphous crystalline "
    "stoichiometric cooperative hydrophobic elastic electronic optical uniform coherent "
    "low-temperature long-range grain-boundary first-order field-induced surface-bound "
    "short-lived well-defined metastable dissipative conformational catalytic intrinsic"
).split()

NOUNS = (
    "film|profile|defect|flux|diffusion coefficient|binding affinity|scattering factor|interface|"
    "lattice distortion|relaxation|grain structure|phase boundary|oxidation state|domain wall|"
    "refinement|amplification|fluorescence signal|side chain|active site|filament|precipitate|"
    "dislocation network|heat flow|charge transfer|buffer layer|cofactor|stiffness|texture|"
    "conformation|background|correlation length|residue|vacancy|surface reflection|gradient|"
    "microstructure|coordination shell|hydrogen bond|reference sample|activation barrier"
).split("|")

PLURALS = (
    "films|profiles|defects|specimens|fits|coefficients|reflections|filaments|particles|spectra|"
    "crystals|residues|simulations|replicates|fragments|control samples|interfaces|batches|"
    "measurements|assays|diffraction patterns|micrographs|series"
).split("|")

VERBS = (
    "affects affected affect|confirms confirmed confirm|limits limited limit|"
    "modifies modified modify|reflects reflected reflect|stabilises stabilised stabilise|"
    "suppresses suppressed suppress|reproduces reproduced reproduce|exceeds exceeded exceed|"
    "determines determined determine|follows followed follow|influences influenced influence|"
    "accelerates accelerated accelerate|precedes preceded precede|resembles resembled resemble|"
    "amplifies amplified amplify|dominates dominated dominate|screens screened screen|"
    "inhibits inhibited inhibit|redefines redefined redefine"
).split("|")
"""Each in the present, the past and the infinitive."""

PARTICIPLES = (
    "observed measured identified detected quantified refined modified verified resolved "
    "characterised calibrated amplified confirmed reproduced purified"
).split()

ADVERBIALS = (
    "at room temperature|under reducing conditions|within the first hour|in dry argon|"
    "over the whole field range|after prolonged annealing|in the presence of excess salt|"
    "close to the transition|for all specimens|in the high-frequency limit|"
    "below the detection limit of the instrument|on repeated cooling|under constant load|"
    "in freshly prepared buffer|far from equilibrium|in agreement with the model|"
    "in every batch that we examined|at the lowest dose|with a different substrate|"
    "in spite of the large background|during the second heating cycle|along the growth direction|"
    "at moderate ionic strength|for sufficiently thin layers|after correction for absorption|"
    "without further purification|before the onset of melting|in both laboratories|"
    "when the pressure was released|irrespective of the supplier|in a sealed vessel|"
    "across the full composition range|under illumination|on a time scale of minutes"
).split("|")

OPENERS = (
    "In contrast|As expected|In addition|Surprisingly|By comparison|In the same way|"
    "More specifically|As a first step|Taken together|In our hands|To a good approximation|"
    "For reasons of efficiency|In the final analysis|On closer inspection|Conversely"
).split("|")

METHODS = (
    "powder diffraction|differential scanning calorimetry|fluorescence anisotropy|"
    "small-angle scattering|infrared spectroscopy|surface plasmon resonance|nanoindentation|"
    "impedance spectroscopy|analytical ultracentrifugation|atomic force microscopy|"
    "electron backscatter diffraction|circular dichroism|magnetometry|ellipsometry"
).split("|")

CLAUSES = (
    "which limits the precision of the fit|as earlier studies had suggested|"
    "although the effect was small|because the flux was held constant|"
    "so that no further correction was applied|whereas the reference did not change|"
    "provided that the buffer was degassed|as long as the film remained coherent|"
    "and the difference is significant|but the origin of this offset is not known|"
    "while the profile of the line stayed the same|if the field is applied first"
).split("|")

TERMS = (
    "effective offset|final state|stiff regime|first plateau|reflected fraction|soft limit|"
    "affine response|confined phase"
).split("|")

GASES = ("argon", "nitrogen", "oxygen", "forming gas", "air")

HEADINGS = (
    "Introduction|Experimental details|Sample preparation|Results|Effect of confinement|"
    "Comparison with earlier work|Sources of uncertainty|Discussion|Model and fits|"
    "Influence of the interface|Further observations|Outlook"
).split("|")

GIVEN = (
    "Amara Bohdan Chiara Dieter Elif Farid Greta Hiroshi Ingrid Jonas Kavita Leila Mateus Nadia "
    "Oskar Priya Quentin Rosa Sven Tamar Ulrike Viktor Wanjiru Xenia Yusuf Zofia André Noémie"
).split()

FAMILY = (
    "Abernathy Bäckström Castellanos Drăgulescu Eriksen Falkenrath Grünwald Halvorsen Ivanenko "
    "Jääskeläinen Kowalczyk Lindqvist Mbeki-Thorne Novotná Okonjo Pellegrini Quillfeldt "
    "Rasmussen Søndergaard Takahara Umezawa Vasquez-Ortiz Wojciechowski Yıldırım Zielinski "
    "Ashworth Bellweather Chaudhry Delacroix Engström Fitzwilliam Gathoni Hirasawa Imhof "
    "Jellinek Kjeldsen Lafleur Marchetti Nakagawa Ólafsson Prudhomme Rautenberg Schöffler "
    "Tregarthen Ueda Villareal Winterbourne Flanagan Griffiths Pfister"
).split()

JOURNALS = {
    "material": (
        "Journal of Functional Oxides", "Annals of Lattice Physics", "Reports on Thin Films",
    ),
    "alloy": (
        "Archive of Metals and Alloys", "Journal of Mechanical Microstructure",
        "Physical Metallurgy Reports",
    ),
    "protein": (
        "Annals of Protein Chemistry", "Journal of Molecular Affinity",
        "Structural Biology Reports",
    ),
}  # fmt: skip

PUBLISHERS = ("Fieldhouse Press", "Meridian Scientific", "Society for Open Results")

DOPANTS = "Nb Ta W Mo Cr Mn Fe Co Ni Cu Zn Ga Ge La Ce Pr Nd Sm Eu Gd Y Sc Zr Hf".split()
HOSTS = (
    "SrTiO3 BaTiO3 LaAlO3 ZnO TiO2 SnO2 CeO2 NiO Fe3O4 LiNbO3 KTaO3 CaZrO3 BiFeO3 In2O3 Ga2O3 "
    "MgO Cr2O3 YMnO3 LaMnO3 PbTiO3 WO3 V2O5 HfO2 ZrO2 Cu2O CoO SrRuO3 CaTiO3"
).split()
METALS = "Ti Nb Zr Al Mg Ni Co Fe Cr Mn Cu Zn V Mo Ta Hf Sc Ag Sn W".split()
STEMS = "Vel Tar Kor Mir Lan Pel Sar Dol Fen Gal Hel Jas Nor Ost Quel Rus Tev Ul Wes Zan".split()
MIDDLES = "ko ri ma to ne ba li du sa fi flo ve ga ro pe mi tu la ze no".split()
ENDINGS = "rin min sin tase nase plin".split()

QUANTITIES: dict[str, tuple[tuple[str, str, float, float, int], ...]] = {
    "material": (
        ("band gap", "eV", 0.4, 6.2, 2),
        ("lattice parameter", "Å", 3.6, 9.8, 3),
        ("Curie temperature", "K", 42, 890, 0),
        ("dielectric constant", "", 12, 980, 0),
        ("film thickness", "nm", 4, 420, 1),
        ("Seebeck coefficient", "µV/K", 20, 480, 0),
        ("carrier mobility", "cm2/(V s)", 0.3, 95, 1),
        ("refractive index", "", 1.45, 2.9, 2),
        ("saturation field", "T", 0.2, 8.5, 2),
    ),
    "alloy": (
        ("yield strength", "MPa", 120, 1480, 0),
        ("elastic modulus", "GPa", 38, 310, 1),
        ("Vickers hardness", "HV", 60, 720, 0),
        ("elongation at fracture", "%", 1.5, 48, 1),
        ("melting temperature", "°C", 480, 2600, 0),
        ("density", "g/cm3", 1.7, 14.8, 2),
        ("grain size", "µm", 0.2, 180, 1),
        ("fatigue limit", "MPa", 45, 620, 0),
    ),
    "protein": (
        ("dissociation constant", "nM", 0.4, 920, 1),
        ("molecular mass", "kDa", 9, 240, 1),
        ("melting temperature", "°C", 34, 92, 1),
        ("turnover number", "per second", 0.2, 1800, 1),
        ("half-life", "h", 0.5, 72, 1),
        ("optimum pH", "", 4.2, 9.6, 1),
        ("diffusion coefficient", "µm2/s", 2, 140, 1),
        ("quantum yield", "%", 1, 88, 0),
    ),
}
"""By kind of entity: quantity, unit, smallest and largest value, decimals."""

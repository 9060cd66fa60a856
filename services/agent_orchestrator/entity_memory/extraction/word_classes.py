"""Closed word classes and cue words of English for the grammar.

Only tables, hence its length.
"""

from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set

SELF_PRONOUNS = frozenset({"i", "we", "me", "us", "myself", "ourselves"})
SUBJECT_PRONOUNS = frozenset({"i", "we", "you", "he", "she", "it", "they"})
PERSON_PRONOUNS = frozenset({"he", "she", "him", "her"})
THING_PRONOUNS = frozenset({"it", "this", "that", "this one", "that one"})
PLURAL_PRONOUNS = frozenset({"they", "them"})
OTHER_PRONOUNS = word_set(
    """
    you yourself someone somebody anyone anybody everyone everybody nobody one ones something anything
    everything nothing mine ours yours hers theirs himself herself itself themselves each_other both some many
    most all none others another few several half neither either that this these those there whatever
    whichever whoever
    """
)
PRONOUNS = SELF_PRONOUNS | SUBJECT_PRONOUNS | PERSON_PRONOUNS | PLURAL_PRONOUNS | OTHER_PRONOUNS

SELF_POSSESSIVES = frozenset({"my", "our"})
OTHER_POSSESSIVES = frozenset({"your", "his", "her", "its", "their", "whose"})
DETERMINERS = word_set(
    """
    a an the this that these those some any every each no another both all either neither much many more most
    few several such other what which own
    """
)
# After the subject, or among the auxiliaries: "we all use", "they are both working on".
FLOATING_QUANTIFIERS = frozenset({"all", "both", "each"})

CONJUNCTIONS = word_set(
    """
    / and but or yet nor plus &
    """
)
RELATIVES = frozenset({"who", "whom", "which", "that", "whose", "where"})
QUESTION_WORDS = word_set(
    """
    what why who whom how which whose where when
    """
)

UNREAL_SUBORDINATORS = word_set(
    """
    if unless whether as_if as_though in_case as_long_as as_soon_as only_if what_if provided_that once until
    till when before lest assuming supposing so_that even_if if_only in_order_that
    """
)
"""A clause that they open states no fact of its own."""
FACTUAL_SUBORDINATORS = word_set(
    """
    because since although though while whereas whenever as so even_though after given_that now_that
    except_that
    """
)
SUBORDINATORS = UNREAL_SUBORDINATORS | FACTUAL_SUBORDINATORS
CLAUSE_OR_PREPOSITION = word_set(
    """
    once till as while until since when so after before
    """
)

PREPOSITIONS = word_set(
    """
    about above across after against along alongside among around as at atop before behind below between
    beyond by despite during for from in inside into like of off on onto outside over past per since than
    through throughout till to toward towards under until unlike up upon versus via vs with within without
    besides except minus
    """
)
EXCLUDING_PREPOSITIONS = word_set(
    """
    over than instead_of rather_than in_place_of as_opposed_to other_than apart_from except_for except unlike
    without against versus vs minus despite besides
    """
)
"""What follows them is named only to be set aside."""
LIST_PREPOSITIONS = frozenset(
    {"such_as", "including", "as_well_as", "along_with", "and_also", "e.g", "namely"}
)

NEGATORS = word_set(
    """
    no_longer rarely barely neither scarcely not seldom nor hardly never
    """
)
NEGATIVE_DETERMINERS = frozenset({"no", "neither", "none", "nobody", "nothing", "zero"})

MULTIWORD = {
    ("no", "longer"): "no_longer",
    ("not", "only"): "also",
    ("not", "just"): "also",
    ("not", "merely"): "also",
    ("not", "anymore"): "no_longer",
    ("any", "more"): "anymore",
    ("any", "longer"): "anymore",
    ("as", "well", "as"): "as_well_as",
    ("along", "with"): "with",
    ("together", "with"): "with",
    ("instead", "of"): "instead_of",
    ("rather", "than"): "rather_than",
    ("in", "favour", "of"): "in_favour_of",
    ("in", "favor", "of"): "in_favour_of",
    ("in", "place", "of"): "in_place_of",
    ("as", "opposed", "to"): "as_opposed_to",
    ("other", "than"): "other_than",
    ("apart", "from"): "apart_from",
    ("except", "for"): "except_for",
    ("such", "as"): "such_as",
    ("because", "of"): "due_to",
    ("due", "to"): "due_to",
    ("thanks", "to"): "due_to",
    ("next", "to"): "next_to",
    ("across", "from"): "next_to",
    ("opposite", "me"): "opposite_me",
    ("on", "top", "of"): "on_top_of",
    ("over", "to"): "to",
    ("across", "to"): "to",
    ("away", "from"): "from",
    ("off", "of"): "off",
    ("as", "if"): "as_if",
    ("as", "though"): "as_though",
    ("in", "case"): "in_case",
    ("as", "long", "as"): "as_long_as",
    ("as", "soon", "as"): "as_soon_as",
    ("even", "if"): "even_if",
    ("only", "if"): "only_if",
    ("what", "if"): "what_if",
    ("if", "only"): "if_only",
    ("provided", "that"): "provided_that",
    ("so", "that"): "so_that",
    ("even", "though"): "even_though",
    ("given", "that"): "given_that",
    ("now", "that"): "now_that",
    ("each", "other"): "each_other",
    ("out", "of"): "out_of",
    ("part", "of"): "part_of",
    ("member", "of"): "member_of",
    ("in", "charge", "of"): "in_charge_of",
    ("responsible", "for"): "in_charge_of",
    ("according", "to"): "according_to",
    ("this", "one"): "this one",
    ("that", "one"): "that one",
    ("kind", "of"): "rather",
    ("sort", "of"): "rather",
    ("a", "lot"): "lots",
    ("a", "bit"): "lots",
    ("right", "now"): "now",
    ("these", "days"): "nowadays",
    ("at", "the", "moment"): "now",
    ("for", "now"): "now",
    ("of", "course"): "indeed",
    ("by", "the", "way"): "indeed",
    ("in", "fact"): "indeed",
    ("to", "be", "honest"): "indeed",
    ("so", "far"): "still",
    ("at", "least"): "indeed",
    ("in", "general"): "usually",
    ("by", "default"): "usually",
    ("for", "example"): "indeed",
    ("for", "instance"): "indeed",
    ("more", "than"): "more_than",
    ("better", "than"): "better_than",
    ("sick", "of"): "sick_of",
    ("tired", "of"): "sick_of",
    ("fed", "up", "with"): "sick_of",
    ("friends", "with"): "friends_with",
    ("in", "theory"): "hypothetically",
    ("at", "all"): "indeed",
    ("per", "se"): "indeed",
    ("every", "day"): "daily",
    ("all", "day"): "daily",
    ("all", "the", "time"): "always",
    ("up", "to"): "up_to",
    ("or", "so"): "so_much",
    ("in", "use"): "in_use",
    ("on", "board", "with"): "with",
    ("either", "way"): "indeed",
    ("as", "of"): "as_of",
    ("first", "of", "all"): "indeed",
    ("at", "first"): "formerly",
    ("at", "one", "point"): "formerly",
    ("in", "the", "past"): "formerly",
    ("back", "then"): "formerly",
    ("back", "in"): "formerly_in",
    ("back", "when"): "formerly",
    ("in", "the", "future"): "someday",
    ("one", "day"): "someday",
    ("some", "day"): "someday",
    ("any", "day"): "always",
    ("hands", "down"): "indeed",
    ("long", "ago"): "formerly",
    ("ever", "since"): "since",
    ("per", "day"): "daily",
    ("in", "production"): "now",
    ("by", "far"): "indeed",
    ("on", "call"): "on_call",
    ("time", "being"): "now",
    ("on", "fire"): "on_fire",
    ("a", "long", "time"): "long",
}

ADVERBS = word_set(
    """
    actually also already almost always anymore again ago apparently away back badly basically better best
    briefly certainly clearly closely commonly completely constantly currently daily deeply definitely
    deliberately directly early else enough entirely especially essentially eventually ever exactly
    exclusively extensively extremely fairly fast finally formally formerly frankly frequently fully generally
    gladly gradually happily hard heavily here hereby honestly hopefully hypothetically ideally immediately
    indeed initially instead internally ironically just largely lately later literally lots luckily mainly
    maybe merely mostly much naturally nearly never normally not now nowadays obviously occasionally
    officially often ok okay once only originally perhaps permanently personally please possibly predominantly
    presumably pretty previously primarily privately probably quickly quite rather really recently regularly
    religiously reportedly roughly sadly secretly seriously simply slowly so sometimes somewhat soon still
    strictly strongly supposedly surely tentatively then therefore though thoroughly today together tomorrow
    tonight too totally truly typically ultimately unanimously unfortunately usually very weekly well
    out yesterday yet yeah yes yep yup nope nah hi hey hello thanks thank sorry oh ah hmm well anyway however
    moreover meanwhile allegedly half long even someday straight both_ways overnight collectively jointly
    mutually monthly happily no_longer rumoredly indoors online offline upstream in_use everyday for_me to_me
    on_call no lol haha btw fyi imo tbh fwiw iirc cheers ugh wow nevertheless nonetheless otherwise likewise
    similarly besides plainly forever thankfully admittedly professionally
    """
)

UNCERTAIN_ADVERBS = word_set(
    """
    maybe perhaps possibly probably hypothetically ideally tentatively almost nearly presumably hopefully
    theoretically
    """
)
HEARSAY_ADVERBS = frozenset(
    ["apparently", "supposedly", "reportedly", "allegedly", "rumoredly", "according_to"]
)
ENDED_ADVERBS = word_set(
    """
    formerly previously originally initially once anymore formerly_in ago
    """
)
FUTURE_ADVERBS = frozenset(["someday", "tomorrow", "soon", "eventually", "later"])

ENDED_ADJECTIVES = word_set(
    """
    previous old former last first earlier ex past prior
    """
)
FUTURE_ADJECTIVES = word_set(
    """
    next future upcoming dream hypothetical fictional imaginary potential
    """
)
PERIODS = word_set(
    """
    year month week quarter day night time summer winter spring autumn fall sprint release semester
    """
)

MONTHS_AND_DAYS = word_set(
    """
    january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday christmas easter q1 q2 q3 q4 h1 h2
    """
)
NOT_NAMES = word_set(
    """
    i api apis ci ceo cto cfo coo cio vp hr pr prs ui ux qa it ok okay fyi btw imo imho tbh asap lol pdf url
    urls id ids ai ml llm llms csv pc tv usb cpu gpu ram ssd os ide db sdk cli gui http https tcp ip vpn faq
    eta eod wip mvp poc kpi kpis sla slo roi etl erp crm cms iot ar vr saas paas b2b b2c phd msc bsc mba dm
    dms pm am utc gmt est pst cet np ps english german french spanish italian portuguese dutch swedish
    norwegian danish finnish polish russian ukrainian greek turkish arabic hebrew hindi chinese japanese
    korean vietnamese thai american british european asian african indian canadian australian mexican
    brazilian swiss austrian irish scottish god internet web mom dad mum hello hi dear thanks please sorry
    note edit update todo etc eg ie nda cv tl dr tldr afaik iirc fwiw ftw wfh ooo rfp sre ops dev devs iso
    readme none n/a yes no
    """
)
TITLES = word_set(
    """
    prof mrs madam miss dame mr sir professor dr ms
    """
)

NAMING = frozenset({"called", "named", "codenamed", "code-named", "dubbed", "nicknamed"})
"""Participles before the name of a thing: "a library called Wren"."""

PERSON_ROLES_AT_WORK = word_set(
    """
    colleague coworker co-worker teammate team-mate manager boss supervisor mentor mentee deputy counterpart
    assistant intern co-founder cofounder partner collaborator co-author coauthor report advisor adviser lead
    designer architect developer engineer tester analyst accountant lawyer secretary contractor successor
    predecessor director dba cto ceo cfo scientist consultant recruiter editor_in_chief professor postdoc
    co-lead colead co-maintainer comaintainer buddy_at_work officemate deskmate labmate programmer devops po
    peer apprentice trainee coach line_manager
    """
)
PERSON_ROLES_PRIVATE = word_set(
    """
    friend buddy pal mate roommate flatmate housemate neighbour neighbor acquaintance wife husband spouse
    girlfriend boyfriend fiancé fiancée brother sister cousin uncle aunt mother father mom dad mum son
    daughter nephew niece classmate schoolmate brother-in-law sister-in-law bestie
    """
)
PERSON_ROLES = (
    PERSON_ROLES_AT_WORK
    | PERSON_ROLES_PRIVATE
    | word_set(
        """
    person people guy guys man men woman women kid kids child children user users customer customers client
    clients competitor competitors vendor employee employees folks somebody dev devs developers engineers
    teacher student students maintainer maintainers owner author founder head chief president expert fan
    beginner newbie colleagues friends teammates coworkers parents family
    """
    )
)

SELF_GROUPS = word_set(
    """
    team squad group crew company startup start-up stack backend back-end frontend front-end api app
    application apps apis site website service services microservice microservices pipeline pipelines
    infrastructure infra platform system systems codebase code repo repository data database warehouse server
    servers cluster deployment deployments product products editor setup workflow monolith repos tests lab
    office shop organisation organization org department unit firm studio agency dashboard dashboards
    monitoring ci build builds project side_project job jobs scripts notebooks models documentation docs wiki
    blog frontends backends game bot software tooling environment production staging toolchain architecture
    scheduler queue queues cache search auth authentication login logs logging tracing billing payments
    analytics reporting client mobile_app desktop firmware work cloud network school class family_nas homelab
    home-lab nas process everything crawler scraper exporter importer gateway worker workers prototype mvp
    ward clinic hospital practice surgery band choir orchestra parish church club association restaurant cafe
    bakery hotel farm museum faculty institute household
    library homepage portfolio store storefront webshop checkout compiler parser engine simulation simulations
    """
)
"""Things that stand for the user or the user's team when they are "my …" or "our …"."""

TOOL_HEADS = word_set(
    """
    editor ide database db language framework library tool stack shell terminal browser laptop computer
    machine phone tablet watch camera keyboard desktop cloud provider host hosting os distro system platform
    app application client orm runtime compiler linter formatter debugger package cms crm wiki tracker queue
    broker cache vpn server warehouse orchestrator scheduler model llm assistant plugin extension engine theme
    notebook driver setup workflow ci pipeline store vcs tooling container registry proxy backend frontend
    datastore scripting calendar mailer service software toolchain kit dialect bundler manager_of_packages
    note-taker ereader e-reader monitor printer router nas daw console palette font website api programme
    suite product device weapon vendor search kernel monitoring logging alerting messaging storage auth
    authentication analytics billing
    """
)
PROJECT_HEADS = word_set(
    """
    project side_project side-project product startup baby library app game platform system initiative
    programme program
    """
)
ORGANIZATION_HEADS = word_set(
    """
    company employer team organisation organization startup firm university school agency lab institute club
    bank
    """
)
BUILT_HEADS = word_set(
    """
    app application service system platform product library engine api bot site website game pipeline tool
    package microservice monolith gateway framework module component component programme project scheduler
    daemon crawler dashboard portal backend frontend cli sdk compiler language simulator startup side_project
    side-project layer
    """
)
"""What a user or a company builds: an unknown name of "our …" is a project."""
EMPLOYER_HEADS = frozenset(["employer", "company", "workplace", "university", "school", "firm"])
DOCUMENT_HEADS = word_set(
    """
    handbook guide roadmap spec specification report document doc paper memo proposal readme wiki_page runbook
    playbook whitepaper manual policy changelog postmortem post-mortem minutes contract deck book chapter
    article brief charter checklist plan rfc adr newsletter audit glossary thesis ticket summary notes
    standard appendix review
    """
)
IDENTITY_HEADS = (
    TOOL_HEADS
    | PROJECT_HEADS
    | ORGANIZATION_HEADS
    | word_set(
        """
    cluster database instance stack environment module component microservice repo repository codebase bot
    team crew framework ecosystem backend frontend pipeline deployment server infrastructure programme lib sdk
    site crowd board
    """
    )
)
"""Common nouns that may follow a name without making it stand for another thing."""
EVENT_HEADS = word_set(
    """
    call calls meeting meetings talk talks course courses book books conference conferences interview
    interviews tutorial tutorials docs documentation ticket tickets issue issues bug bugs article articles
    video videos joke jokes developer developers engineer engineers people guy guys fan fans expert experts
    person user users consultant recruiter logo sticker stickers shirt news event events community meetup
    forum thread threads post posts job jobs position certification certificate exam license licence account
    stock shares clone alternative competitor culture blog invite invitation link links message messages
    channel channels email emails newsletter question questions answer salesman rep support outage incident
    migration upgrade update release proposal deadline problem problems offer demo devs folks programmer
    programmers enthusiast enthusiasts nerd hype drama vendor booth trial workshop training session sessions
    standup example examples sample samples
    """
)
"""Common nouns that make a name before them a mere modifier: "a Zoom call", "a Java developer"."""

PRIVATE_HEADS = word_set(
    """
    cat kitten dog puppy pet hamster rabbit bunny horse pony parrot bird goldfish turtle tortoise snake
    lizard ferret hen rooster cow goat sheep donkey pig bee car van truck motorbike motorcycle scooter bike
    bicycle boat yacht sailboat canoe kayak ship plane caravan camper house flat apartment cabin cottage
    garden tree plant flower guitar violin piano drum doll teddy toy street village town city island
    river lake mountain planet star song album band film movie novel restaurant café cafe pub beer wine
    cocktail dish perfume racehorse
    """
)
"""Common nouns whose names are those of pets, vehicles, places and works, not of what one works with."""

ORGANIZATION_WORDS = word_set(
    """
    inc ltd llc gmbh ag corp corporation co company labs lab university college institute bank foundation
    group holdings partners studio studios systems technologies consulting agency ministry hospital school
    association club society ventures capital airlines motors bv oy ab plc sa kg research robotics analytics
    industries pharma energy media press solutions logistics insurance team department council
    """
)
PROJECT_WORDS = frozenset(["project", "programme", "program", "initiative"])
CONCEPT_WORDS = word_set(
    """
    programming development architecture design style testing methodology method principle principles pattern
    practice driven guide handbook roadmap spec specification report memo proposal manual playbook runbook
    policy charter paper whitepaper standard
    """
)
CONCEPT_CODES = word_set(
    """
    RFD PRD PEP IEEE DIN SOC RFC ISO ADR JEP
    """
)

COMMON_NOUNS = word_set(
    """
    work code data documentation production marketing sales finance legal support management everything
    nothing something development testing deployment monitoring logging security design research music coffee
    tea lunch dinner breakfast time money life love news weather traffic software hardware education
    information communication progress feedback performance experience knowledge engineering infrastructure
    operations product people users customers clients developers engineers folks children kids students
    teachers friends colleagues teammates managers companies teams tests builds notes docs emails meetings
    models services servers databases languages tools editors frameworks libraries things stuff ideas plans
    questions problems bugs issues features tasks projects backups payments billing analytics authentication
    search caching storage orders logs metrics alerts tickets reviews releases versions tomorrow today
    yesterday morning afternoon evening night weekend yesterday's home school university mornings evenings
    weekends half part most speaking context background question problem idea thanks congrats reminder summary
    goal goals story stories fun fact facts trouble luck sure same other first second third next last new old
    good great nice cool bad long short big small quick little lovely happy glad funny interesting weird
    strange true false correct wrong right left up down unfortunately basically two three four five six seven
    eight nine ten one zero hundred thousand million hundreds thousands lots plenty tons everyone whatever
    background deployments scripts frontend backend dev ops nothing sadly task day days year years month
    months week weeks hour hours minute minutes
    """
)
"""Words that a capital at the start of a sentence does not make a name."""
